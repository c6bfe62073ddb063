"""Aggregates over moving frames: prefix sums of exact parts, and extremes by doubling.

    Σ v[a…b) = P[b] − P[a]        P: prefix sums, exact (limbs), so that nothing depends on what went before
    max v[a…b) = max(M_k[a], M_k[b − 2^k])        M_k[i] = max v[i…i + 2^k),  2^k <= b − a < 2^(k+1)

Cost: O(n) for sums and counts, O(n log n) for extremes, whatever the frames' lengths.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from circuits.arrow import fixed_values, int64_array, validity
from circuits.errors import EvaluationError
from circuits.limbs import (
    divide_half_up,
    split_decimal,
    split_int64,
    sum_ranges,
    to_decimal,
    to_double,
    to_int64,
)
from circuits.ordering import from_order_bits, has_order_bits, order_bits
from circuits.sorting import dense_ranks, sort_keys
from circuits.trace import expand_ranges
from circuits.windows.calls import WindowFunction
from circuits.windows.partitions import Runs


def counts(array: pa.Array, frame: Runs) -> np.ndarray:
    """int64[n]: values that aren't NULL in each frame."""
    start, stop = frame
    if not array.null_count:
        return stop - start
    return _between(validity(array).astype(np.int64), frame)


def total(call: WindowFunction, array: pa.Array, frame: Runs) -> pa.Array:
    """sum and avg: NULL without values. Raises EvaluationError where the result is out of range."""
    there = counts(array, frame)
    valid = there > 0
    if pt.is_floating(array.type):
        values = np.where(validity(array), fixed_values(array), 0).astype(np.float64)
        sums = sum_ranges(values, *frame)
        if call.function == "avg":
            sums = sums / np.where(valid, there, 1)
        return pa.array(sums, mask=~valid)
    limbs = np.stack([_between(limb, frame) for limb in _limbs(array)])
    if call.function == "avg" and not pt.is_decimal(call.type):
        return pa.array(to_double(limbs) / np.where(valid, there, 1), mask=~valid)
    if call.function == "avg":
        limbs = divide_half_up(limbs, call.type.scale - array.type.scale, np.where(valid, there, 1))
    if pt.is_decimal(call.type):
        result, fits = to_decimal(limbs, call.type, valid)
    else:
        whole, fits = to_int64(limbs)
        result = pa.array(whole, mask=~valid)
    if not (fits | ~valid).all():
        message = f"{call.text or call.function} is out of range of {call.type}"
        raise EvaluationError("ARITHMETIC_OVERFLOW", message)
    return result


def _limbs(array: pa.Array) -> list[np.ndarray]:
    """The parts of an exact sum of integers or decimals; 0 for NULL."""
    values = fixed_values(array)
    parts = split_decimal(array) if pt.is_decimal(array.type) else split_int64(values.astype(np.int64))
    return parts if not array.null_count else [np.where(validity(array), part, 0) for part in parts]


def extreme(call: WindowFunction, array: pa.Array, frame: Runs) -> pa.Array:
    """min and max: NULL without values; NaN is the greatest."""
    valid = counts(array, frame) > 0
    least = call.function == "min"
    coded = has_order_bits(array.type)
    codes = order_bits(array) if coded else dense_ranks(sort_keys(array), len(array))
    info = np.iinfo(np.int64)
    if array.null_count:
        codes = np.where(validity(array), codes, info.max if least else info.min)
    found = _extremes(codes, frame, np.minimum if least else np.maximum)
    if coded:
        return from_order_bits(found, valid, array.type)
    place = np.zeros(len(array) + 1, dtype=np.int64)
    known = np.flatnonzero(validity(array))
    place[codes[known]] = known
    return array.take(pa.array(place[np.where(valid, found, 0)], mask=~valid))


def _extremes(codes: np.ndarray, frame: Runs, pick: np.ufunc) -> np.ndarray:
    """int64[n]: each frame's least or greatest code; anything where it is empty."""
    start, stop = frame
    length = stop - start
    found = np.zeros(len(start), dtype=np.int64)
    if not len(length):
        return found
    # the exponent of the greatest power of two within each length; -1 of an empty frame
    power = np.frexp(length.astype(np.float64))[1] - 1
    table = codes
    for k in range(int(power.max()) + 1):
        if k:
            half = 1 << (k - 1)
            table = pick(table[:-half], table[half:])
        here = np.flatnonzero(power == k)
        found[here] = pick(table[start[here]], table[stop[here] - (1 << k)])
    return found


def collected(call: WindowFunction, array: pa.Array, frame: Runs) -> pa.Array:
    """collect_list: each frame's values without NULLs, in order."""
    lengths = counts(array, frame)
    known = np.flatnonzero(validity(array))
    before = np.concatenate([[0], np.cumsum(validity(array))])
    first = before[frame[0]]
    _, places = expand_ranges(first, first + lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), array.take(int64_array(known[places])), type=call.type)


def _between(values: np.ndarray, frame: Runs) -> np.ndarray:
    prefix = np.concatenate([[0], np.cumsum(values)])
    return np.asarray(prefix[frame[1]] - prefix[frame[0]])
