"""HASH and XXHASH64: Spark's Murmur3 (32 bits) and xxHash (64 bits), bit for bit.

    hash(a, b, ...) = h(b, h(a, 42))          h(NULL, seed) = seed

An array is the chain of its elements, a struct that of its fields: element k of all arrays is one vectorised
round, over the rows that have one. Text takes a round per word of all values that have one more, until few
are left: those go on one by one, in Python.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, decimal_words, fixed_values, validity
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.hashing import byte_ranges, list_ranges
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import Numbers
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.functions.logic.comparison import no_maps

# Up to so many values a word of each costs less in Python than NumPy's round for all.
_FEW = 64

Mix = Callable[[Numbers, Numbers], Numbers]


class _Hash:
    """int32, int64: (values, seeds) → hashes. text: (starts, lengths, data, seeds) → hashes."""

    word: type
    int32: Mix
    int64: Mix
    text: Callable[[Numbers, Numbers, Numbers, Numbers], Numbers]


def _u32(values: Numbers) -> Numbers:
    return values.astype(np.uint32)


def _rotate32(x: Numbers, by: int) -> Numbers:
    return (x << np.uint32(by)) | (x >> np.uint32(32 - by))


class _Murmur3(_Hash):
    word = np.uint32

    @staticmethod
    def _mix_k(k: Numbers) -> Numbers:
        return _rotate32(k * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)

    @classmethod
    def _mix_h(cls, h: Numbers, k: Numbers) -> Numbers:
        mixed = _rotate32(h ^ cls._mix_k(k), 13)
        return np.asarray(mixed * np.uint32(5) + np.uint32(0xE6546B64))

    @staticmethod
    def _chain(h: int, mixed: Numbers) -> int:
        """`_mix_h` of one value by words that `_mix_k` has mixed."""
        for k in mixed.tolist():
            h ^= k
            h = ((h << 13 | h >> 19) * 5 + 0xE6546B64) & 0xFFFFFFFF
        return h

    @staticmethod
    def _finish(h: Numbers, length: Numbers) -> Numbers:
        h = h ^ _u32(length)
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        return np.asarray(h ^ (h >> np.uint32(16)))

    @classmethod
    def int32(cls, values: Numbers, seeds: Numbers) -> Numbers:
        return cls._finish(cls._mix_h(seeds, _u32(values)), np.full(len(values), 4))

    @classmethod
    def int64(cls, values: Numbers, seeds: Numbers) -> Numbers:
        bits = values.astype(np.int64).view(np.uint64)
        low, high = _u32(bits & np.uint64(0xFFFFFFFF)), _u32(bits >> np.uint64(32))
        return cls._finish(cls._mix_h(cls._mix_h(seeds, low), high), np.full(len(values), 8))

    @classmethod
    def text(cls, starts: Numbers, lengths: Numbers, data: Numbers, seeds: Numbers) -> Numbers:
        """Words of four bytes; then each byte left over as a signed word of its own."""
        hashes = seeds.copy()
        whole = lengths // 4
        rows, place = np.flatnonzero(whole), 0
        while len(rows) > _FEW:
            hashes[rows] = cls._mix_h(hashes[rows], _words(data, starts[rows] + 4 * place, np.uint32))
            place += 1
            rows = rows[whole[rows] > place]
        for row in rows.tolist():
            left = data[starts[row] + 4 * place : starts[row] + 4 * whole[row]]
            hashes[row] = cls._chain(int(hashes[row]), cls._mix_k(np.frombuffer(left, "<u4")))
        for place in range(3):
            rows = np.flatnonzero(lengths - 4 * whole > place)
            byte = data[starts[rows] + 4 * whole[rows] + place].view(np.int8).astype(np.int32)
            hashes[rows] = cls._mix_h(hashes[rows], byte.view(np.uint32))
        return cls._finish(hashes, lengths)


def _words(data: Numbers, at: Numbers, kind: type) -> Numbers:
    """Unaligned little-endian words."""
    width = np.dtype(kind).itemsize
    return np.ascontiguousarray(data[at[:, None] + np.arange(width)]).view(kind).ravel()


_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(p)
    for p in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)


def _rotate64(x: Numbers, by: int) -> Numbers:
    return (x << np.uint64(by)) | (x >> np.uint64(64 - by))


class _XxHash64(_Hash):
    word = np.uint64

    @staticmethod
    def _finish(h: Numbers) -> Numbers:
        h = (h ^ (h >> np.uint64(33))) * _P2
        h = (h ^ (h >> np.uint64(29))) * _P3
        return np.asarray(h ^ (h >> np.uint64(32)))

    @staticmethod
    def _chain(h: int, mixed: Numbers) -> int:
        """A lane of one value, by its words times `_P2`."""
        for word in mixed.tolist():
            h = (h + word) & 0xFFFFFFFFFFFFFFFF
            h = (h << 31 | h >> 33) * 0x9E3779B185EBCA87 & 0xFFFFFFFFFFFFFFFF
        return h

    @staticmethod
    def _add8(h: Numbers, word: Numbers) -> Numbers:
        return _rotate64(h ^ (_rotate64(word * _P2, 31) * _P1), 27) * _P1 + _P4

    @staticmethod
    def _add4(h: Numbers, word: Numbers) -> Numbers:
        return _rotate64(h ^ (word * _P1), 23) * _P2 + _P3

    @classmethod
    def int32(cls, values: Numbers, seeds: Numbers) -> Numbers:
        return cls._finish(cls._add4(seeds + _P5 + np.uint64(4), _u32(values).astype(np.uint64)))

    @classmethod
    def int64(cls, values: Numbers, seeds: Numbers) -> Numbers:
        return cls._finish(cls._add8(seeds + _P5 + np.uint64(8), values.astype(np.int64).view(np.uint64)))

    @classmethod
    def text(cls, starts: Numbers, lengths: Numbers, data: Numbers, seeds: Numbers) -> Numbers:
        """Stripes of four words of eight bytes, then words of eight, one of four, and bytes."""
        hashes = seeds + _P5
        at = starts.copy()
        long = np.flatnonzero(lengths >= 32)
        if len(long):
            seed = seeds[long]
            lanes = [seed + _P1 + _P2, seed + _P2, seed.copy(), seed - _P1]
            stripes = lengths[long] // 32
            rows, place = np.arange(len(long)), 0
            while len(rows) > _FEW:
                for lane in range(4):
                    word = _words(data, at[long[rows]] + 32 * place + 8 * lane, np.uint64)
                    lanes[lane][rows] = _rotate64(lanes[lane][rows] + word * _P2, 31) * _P1
                place += 1
                rows = rows[stripes[rows] > place]
            for row in rows.tolist():
                start = at[long[row]]
                left = data[start + 32 * place : start + 32 * stripes[row]]
                words = np.frombuffer(left, "<u8").reshape(-1, 4) * _P2
                for lane in range(4):
                    lanes[lane][row] = cls._chain(int(lanes[lane][row]), words[:, lane])
            one, two, three, four = (_rotate64(v, by) for v, by in zip(lanes, (1, 7, 12, 18), strict=True))
            h = one + two + three + four
            for state in lanes:
                h = (h ^ (_rotate64(state * _P2, 31) * _P1)) * _P1 + _P4
            hashes[long] = h
            at[long] += 32 * stripes
        hashes = hashes + lengths.astype(np.uint64)
        end = starts + lengths
        while len(rows := np.flatnonzero(end - at >= 8)):
            hashes[rows] = cls._add8(hashes[rows], _words(data, at[rows], np.uint64))
            at[rows] += 8
        if len(rows := np.flatnonzero(end - at >= 4)):
            hashes[rows] = cls._add4(hashes[rows], _words(data, at[rows], np.uint32).astype(np.uint64))
            at[rows] += 4
        while len(rows := np.flatnonzero(end > at)):
            byte = data[at[rows]].astype(np.uint64)
            hashes[rows] = _rotate64(hashes[rows] ^ (byte * _P5), 11) * _P1
            at[rows] += 1
        return cls._finish(hashes)


def _chained(hash_: type[_Hash], array: pa.Array, seeds: Numbers) -> Numbers:
    """The seeds, each mixed with its row's value; unchanged where that is NULL."""
    data_type = array.type
    if pt.is_null(data_type):
        return seeds
    if pt.is_struct(data_type):
        hashed = seeds
        for field in child_arrays(array):
            hashed = _chained(hash_, field, hashed)
    elif pt.is_list(data_type):
        hashed = _of_lists(hash_, array, seeds)
    elif pt.is_string(data_type) or pt.is_binary(data_type):
        starts, lengths, data = byte_ranges(array)
        hashed = hash_.text(starts, lengths, data, seeds)
    elif pt.is_decimal(data_type):
        hashed = _of_decimals(hash_, array, seeds)
    else:
        hashed = _of_fixed(hash_, array, seeds)
    return np.where(validity(array), hashed, seeds) if array.null_count else hashed


def _of_fixed(hash_: type[_Hash], array: pa.Array, seeds: Numbers) -> Numbers:
    values = fixed_values(array)
    if array.type == MONTHS:
        values = values.astype(np.int32)
    if values.dtype.kind == "f":
        # one NaN, and 0.0 for −0.0
        values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values + values.dtype.type(0))
        values = values.view(np.int32 if values.dtype.itemsize == 4 else np.int64)
    if values.dtype.itemsize == 8:
        return hash_.int64(values, seeds)
    return hash_.int32(values.astype(np.int32), seeds)


def _of_decimals(hash_: type[_Hash], array: pa.Array, seeds: Numbers) -> Numbers:
    """The unscaled number: as a BIGINT up to 18 digits, beyond as Java's shortest big-endian bytes."""
    words = decimal_words(array)
    if array.type.precision <= 18:
        return hash_.int64(np.ascontiguousarray(words[:, 0]), seeds)
    big = np.ascontiguousarray(np.ascontiguousarray(words).view(np.uint8).reshape(-1, 16)[:, ::-1])
    sign = np.where(words[:, 1] < 0, 0xFF, 0).astype(np.uint8)
    # a leading byte says nothing if it only repeats the sign bit of the next one
    repeats = (big[:, :-1] == sign[:, None]) & ((big[:, 1:] ^ sign[:, None]) < 0x80)
    skipped = np.where(repeats.all(axis=1), 15, np.argmin(repeats, axis=1))
    starts = np.arange(len(big)) * 16 + skipped
    return hash_.text(starts, 16 - skipped, big.ravel(), seeds)


def _of_lists(hash_: type[_Hash], array: pa.Array, seeds: Numbers) -> Numbers:
    starts, lengths, elements = list_ranges(array)
    hashed = seeds.copy()
    rows, place = np.flatnonzero(lengths), 0
    while len(rows):
        hashed[rows] = _chained(hash_, elements.take(pa.array(starts[rows] + place)), hashed[rows])
        place += 1
        rows = rows[lengths[rows] > place]
    return hashed


def murmur3(values: pa.Array, seeds: Numbers) -> Numbers:
    """int32[n]: the hash of each value by its own seed, int32[n]."""
    with np.errstate(over="ignore"):
        hashed: Numbers = _chained(_Murmur3, values, seeds.view(np.uint32)).view(np.int32)
    return hashed


def _register(name: str, hash_: type[_Hash]) -> None:
    @columnar(name, strict=False, refuse=no_maps)
    def run(call: Call, *columns: pa.Array) -> Value:
        """option seed: 42, unless Spark says otherwise."""
        seed = call.option("seed", 42)
        assert isinstance(seed, int), call
        bits = np.dtype(hash_.word).itemsize * 8
        seeds: Numbers = np.full(len(columns[0]), seed % 2**bits, hash_.word)
        with np.errstate(over="ignore"):
            for column in columns:
                seeds = _chained(hash_, column, seeds)
        return pa.array(seeds.view(np.int32 if bits == 32 else np.int64))


_register("murmur3_hash", _Murmur3)
_register("xx_hash64", _XxHash64)
