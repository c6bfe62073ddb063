"""64-bit hashes of rows, column by column, vectorised over Arrow buffers.

    h₀ = seed        hᵢ = mix(hᵢ₋₁ · K ⊕ value(columnᵢ))        mix = the finaliser of splitmix64

A hash only *finds* candidates; `equality.equal_rows` decides. Equal rows have equal hashes: every NaN is
one NaN and a NULL hashes to a constant, whatever lies beneath it in the buffer.
Cost: ~5 ns a row and fixed-width column, ~3 ns a byte of string; up to 80 ns a byte of the few strings that
are much longer than all others, since the rounds of one follow each other. Never rows times the longest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, fixed_values, validity
from dbsp.circuits.columns.ranges import expand_lengths

Hashes = np.ndarray  # uint64[n]

# A pipeline's seed is any non-negative number. This one, for tests, leaves 16 different hashes.
FOUR_BITS = -4

# arrays without dimensions: with a NumPy scalar each operation takes three times as long, of few rows
_MULTIPLIER = np.array(0x9E3779B97F4A7C15, np.uint64)
_MIXERS = (np.array(0xBF58476D1CE4E5B9, np.uint64), np.array(0x94D049BB133111EB, np.uint64))
_SHIFTS = (np.array(30, np.uint64), np.array(27, np.uint64), np.array(31, np.uint64))
_NULL = np.uint64(0x6E756C6C6E756C6C)
_NAN = np.uint64(0x7FF8000000000000)

# Up to so many values a round of each in Python (0.6 µs) costs less than one of NumPy for all (10 µs).
_FEW = 16
# What is taken out of the buffer at a time: rounds for which no value ends need no care.
_WORDS = 1 << 16
# Rows that are hashed together: what their rounds read and write has to fit a core's cache.
_ROWS = 1 << 14


def hash_rows(columns: Sequence[pa.Array], count: int, seed: int = 0) -> Hashes:
    """uint64[count]: one hash a row; of no columns 0, so that the empty key lies in the first partition."""
    return (
        _finished(_add(_begun(count, seed), columns), seed) if columns else np.zeros(count, dtype=np.uint64)
    )


def hash_begun(columns: Sequence[pa.Array], first: int, count: int, seed: int) -> tuple[Hashes, Hashes]:
    """hash_rows of the `first` columns, some, and of all of them, which goes on where that ends."""
    begun = _add(_begun(count, seed), columns[:first])
    whole = _add(begun.copy(), columns[first:])
    return _finished(begun, seed), _finished(whole, seed)


def _begun(count: int, seed: int) -> Hashes:
    hashes = np.empty(count, dtype=np.uint64)
    hashes.fill(seed & 0xFFFFFFFFFFFFFFFF)
    return hashes


def _add(hashes: Hashes, columns: Sequence[pa.Array]) -> Hashes:
    """The columns' values, in place."""
    for column in columns:
        words = _words(column)
        if len(hashes) <= _ROWS:  # slices of few take longer than their words
            _add_words(hashes, words)
            continue
        for first in range(0, len(hashes), _ROWS):
            some = slice(first, first + _ROWS)
            _add_words(hashes[some], words[some])
    return hashes


def _add_words(hashes: Hashes, words: np.ndarray) -> None:
    """In place."""
    hashes *= _MULTIPLIER
    hashes ^= words
    _mix(hashes)


def _finished(hashes: Hashes, seed: int) -> Hashes:
    if seed == FOUR_BITS:
        hashes &= np.uint64(0xF << 60)
    return hashes


def _mix(x: Hashes) -> Hashes:
    """splitmix64's finaliser, a bijection of 64 bits, in place."""
    scratch = x >> _SHIFTS[0]
    x ^= scratch
    x *= _MIXERS[0]
    np.right_shift(x, _SHIFTS[1], out=scratch)
    x ^= scratch
    x *= _MIXERS[1]
    np.right_shift(x, _SHIFTS[2], out=scratch)
    x ^= scratch
    return x


def _words(array: pa.Array) -> Hashes:
    """One 64-bit word a value: the value itself where it fits, a hash of it where not. May be a view."""
    words = _valid_words(array)
    if array.null_count:
        words = np.where(validity(array), words, _NULL)
    return words


def _valid_words(array: pa.Array) -> Hashes:
    data_type = array.type
    if pt.is_integer(data_type):
        return fixed_values(array).astype(np.int64, copy=False).view(np.uint64)
    if pt.is_floating(data_type):
        values = fixed_values(array).astype(np.float64)
        return np.where(np.isnan(values), _NAN, values.view(np.uint64))
    if pt.is_decimal128(data_type):
        halves = fixed_values(array).view(np.uint64).reshape(-1, 2)
        # the high half is the sign of most decimals: mix it before it meets the low half
        return _mix(halves[:, 1] + _MULTIPLIER) ^ halves[:, 0]
    if (
        pt.is_string(data_type)
        or pt.is_binary(data_type)
        or pt.is_large_string(data_type)
        or pt.is_large_binary(data_type)
    ):
        return _hash_bytes(array)
    if pt.is_struct(data_type):
        return hash_rows(child_arrays(array), len(array))
    if pt.is_list(data_type) or pt.is_large_list(data_type) or pt.is_map(data_type):
        return _hash_lists(array)
    if pt.is_null(data_type):
        return np.full(len(array), _NULL)
    values = fixed_values(array)
    if values.dtype == np.bool_:
        return values.astype(np.uint64)
    return values.astype(np.int64, copy=False).view(np.uint64)


def _hash_bytes(array: pa.Array) -> Hashes:
    """Eight bytes a round."""
    starts, lengths, data = byte_ranges(array)
    hashes = lengths.astype(np.uint64)
    if not len(data):
        return hashes
    # unaligned 64-bit reads at any byte; the padding keeps the last one inside the buffer
    padded = np.empty(len(data) + 8, dtype=np.uint8)
    padded[: len(data)] = data
    padded[len(data) :] = 0
    words = np.ndarray(shape=(len(data) + 1,), strides=(1,), dtype=np.uint64, buffer=padded)
    for first in range(0, len(hashes), _ROWS):
        some = slice(first, first + _ROWS)
        _add_bytes(hashes[some], starts[some], lengths[some], words, data)
    return hashes


def _add_bytes(
    hashes: Hashes, starts: np.ndarray, left: np.ndarray, words: np.ndarray, data: np.ndarray
) -> None:
    """The `left` bytes from `starts` of each value, in place; those of the last few values one by one.

    words: the eight bytes from each of data's.
    """
    # all values take part in a round until some have ended, then only those left, in `mixed`
    active: np.ndarray | None = None
    mixed = hashes
    while True:
        if np.count_nonzero(left > 0) < len(left):
            (alive,) = (left > 0).nonzero()
            if active is not None:
                hashes[active] = mixed
            active = alive if active is None else active[alive]
            starts, left, mixed = starts[alive], left[alive], hashes[active]
        if len(left) <= _FEW:
            break
        whole = min(int(left.min()) // 8, max(1, _WORDS // len(left)))
        if whole:
            parts = words[starts + 8 * np.arange(whole)[:, None]]
        else:
            parts = _ends(words[starts], left)[None]
        for part in parts:
            _add_words(mixed, part)
        read = 8 * len(parts)
        starts, left = starts + read, left - read
    for i, (start, length) in enumerate(zip(starts.tolist(), left.tolist(), strict=True)):
        mixed[i] = _hash_one(int(mixed[i]), data[start : start + length])
    if active is not None:
        hashes[active] = mixed


def _ends(words: np.ndarray, left: np.ndarray) -> np.ndarray:
    """The words without what lies beyond the ends of their values, `left` bytes from their starts: some."""
    short = 8 - np.minimum(left, 8)
    return np.asarray(words << (8 * short).view(np.uint64))


def _hash_one(mixed: int, data: np.ndarray) -> int:
    """The rounds of one value's bytes, in Python: see `_FEW`."""
    whole = len(data) // 8
    words = np.frombuffer(data[: whole * 8], dtype="<u8").tolist()
    if len(data) % 8:
        words.append(int.from_bytes(data[whole * 8 :].tobytes(), "little") << 8 * (8 - len(data) % 8))
    for word in words:
        mixed = (mixed * 0x9E3779B97F4A7C15 ^ word) & 0xFFFFFFFFFFFFFFFF
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        mixed ^= mixed >> 31
    return mixed


def byte_ranges(array: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(start, length, data) of variable-width values: int64[n], int64[n] (0 for NULL), uint8[bytes].

    data is cut to what the array uses, so that a slice costs only its own bytes.
    """
    wide = pt.is_large_string(array.type) or pt.is_large_binary(array.type)
    if not len(array):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8)
    _, offset_buffer, data_buffer = array.buffers()
    kind = np.dtype(np.int64 if wide else np.int32)
    offsets = np.frombuffer(offset_buffer, kind, len(array) + 1, array.offset * kind.itemsize)
    first, last = int(offsets[0]), int(offsets[-1])
    data = np.frombuffer(data_buffer, np.uint8)[first:last] if last > first else np.zeros(0, np.uint8)
    starts = offsets[:-1].astype(np.int64) - first
    lengths = np.diff(offsets).astype(np.int64)
    if array.null_count:
        lengths = np.where(validity(array), lengths, 0)
    return starts, lengths, data


def _hash_lists(array: pa.Array) -> Hashes:
    """Each element's hash mixed with its position, added up, mixed with the length."""
    starts, lengths, elements = list_ranges(array)
    inner = hash_rows([elements], len(elements))
    owner, within = expand_lengths(lengths)
    picked = inner[starts[owner] + within] ^ (within.astype(np.uint64) * _MULTIPLIER)
    hashes = lengths.astype(np.uint64)
    np.add.at(hashes, owner, _mix(picked))
    return _mix(hashes)


def list_ranges(array: pa.Array) -> tuple[np.ndarray, np.ndarray, pa.Array]:
    """(start, length, elements) of lists or maps: positions into `elements`; length 0 for NULL."""
    offsets = np.asarray(array.offsets).astype(np.int64)
    lengths = np.diff(offsets)
    if array.null_count:
        lengths = np.where(validity(array), lengths, 0)
    (elements,) = child_arrays(array)
    return offsets[:-1], lengths, elements
