"""64-bit hashes of rows, column by column, vectorised over Arrow buffers.

    h₀ = seed        hᵢ = mix(hᵢ₋₁ · K ⊕ value(columnᵢ))        mix = the finaliser of splitmix64

A hash only *finds* candidates; `equality.equal_rows` decides. Equal rows have equal hashes: every NaN is
one NaN and a NULL hashes to a constant, whatever lies beneath it in the buffer.
Cost: ~5 ns a row and fixed-width column, ~3 ns a byte of string.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, fixed_values, validity

Hashes = np.ndarray  # uint64[n]

# A pipeline's seed is any non-negative number. This one, for tests, leaves 16 different hashes.
FOUR_BITS = -4

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_NULL = np.uint64(0x6E756C6C6E756C6C)
_NAN = np.uint64(0x7FF8000000000000)


def hash_rows(columns: Sequence[pa.Array], count: int, seed: int = 0) -> Hashes:
    """uint64[count]: one hash a row; of no columns, the same for every row."""
    hashes = np.full(count, seed & 0xFFFFFFFFFFFFFFFF, dtype=np.uint64)
    for column in columns:
        hashes *= _MULTIPLIER
        hashes ^= _words(column)
        _mix(hashes)
    if not columns:
        hashes[:] = 0  # the empty key lies in the first partition, whatever the seed
    if seed == FOUR_BITS:
        hashes &= np.uint64(0xF << 60)
    return hashes


def _mix(x: Hashes) -> Hashes:
    """splitmix64's finaliser, a bijection of 64 bits, in place."""
    scratch = x >> np.uint64(30)
    x ^= scratch
    x *= np.uint64(0xBF58476D1CE4E5B9)
    np.right_shift(x, np.uint64(27), out=scratch)
    x ^= scratch
    x *= np.uint64(0x94D049BB133111EB)
    np.right_shift(x, np.uint64(31), out=scratch)
    x ^= scratch
    return x


def _words(array: pa.Array) -> Hashes:
    """One 64-bit word a value: the value itself where it fits, a hash of it where not. May be a view."""
    words = _valid_words(array)
    if array.null_count:
        words = np.where(validity(array), words, _NULL)
    return words


def _valid_words(array: pa.Array) -> Hashes:
    kind = array.type
    if pt.is_integer(kind):
        return fixed_values(array).astype(np.int64, copy=False).view(np.uint64)
    if pt.is_floating(kind):
        values = fixed_values(array).astype(np.float64)
        return np.where(np.isnan(values), _NAN, values.view(np.uint64))
    if pt.is_decimal128(kind):
        halves = fixed_values(array).view(np.uint64).reshape(-1, 2)
        # the high half is the sign of most decimals: mix it before it meets the low half
        return _mix(halves[:, 1] + _MULTIPLIER) ^ halves[:, 0]
    if pt.is_string(kind) or pt.is_binary(kind) or pt.is_large_string(kind) or pt.is_large_binary(kind):
        return _hash_bytes(array)
    if pt.is_struct(kind):
        return hash_rows(child_arrays(array), len(array))
    if pt.is_list(kind) or pt.is_large_list(kind) or pt.is_map(kind):
        return _hash_lists(array)
    if pt.is_null(kind):
        return np.full(len(array), _NULL)
    values = fixed_values(array)
    if values.dtype == np.bool_:
        return values.astype(np.uint64)
    return values.astype(np.int64, copy=False).view(np.uint64)


def _hash_bytes(array: pa.Array) -> Hashes:
    """Eight bytes a round, over the values that still have bytes: rounds = longest value / 8."""
    starts, lengths, data = byte_ranges(array)
    hashes = lengths.astype(np.uint64)
    if not len(lengths) or not (longest := int(lengths.max())):
        return hashes
    # unaligned 64-bit reads at any byte; the padding keeps the last one inside the buffer
    padded = np.zeros(len(data) + 8, dtype=np.uint8)
    padded[: len(data)] = data
    words = np.ndarray(shape=(len(data) + 1,), strides=(1,), dtype=np.uint64, buffer=padded)
    # all values take part in a round until most have ended, then only those left
    active: np.ndarray | None = None
    for offset in range(0, longest, 8):
        left = lengths - offset if active is None else lengths[active] - offset
        if offset and np.count_nonzero(left > 0) < len(left):
            alive = np.flatnonzero(left > 0)
            active = alive if active is None else active[alive]
            left = left[alive]
        at = (starts if active is None else starts[active]) + offset
        part = words[np.minimum(at, len(data))]
        short = np.clip(8 - left, 0, 8)
        # 64-bit shifts by 64 are undefined: an empty tail is masked apart
        part = np.where(short == 8, np.uint64(0), part << (short % 8 * 8).astype(np.uint64))
        if active is None:
            hashes *= _MULTIPLIER
            hashes ^= part
            _mix(hashes)
        else:
            hashes[active] = _mix(hashes[active] * _MULTIPLIER ^ part)
    return hashes


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
    owner = np.repeat(np.arange(len(lengths)), lengths)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    picked = inner[np.repeat(starts, lengths) + within] ^ (within.astype(np.uint64) * _MULTIPLIER)
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
