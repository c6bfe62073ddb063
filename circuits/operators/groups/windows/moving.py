"""Aggregates over moving frames: prefix sums of exact parts, and what idempotent operators fold by doubling.

    Σ v[a…b) = P[b] − P[a]        P: prefix sums, exact, so that nothing depends on what went before
    max v[a…b) = max(M_k[a], M_k[b − 2^k])        M_k[i] = max v[i…i + 2^k),  2^k <= b − a < 2^(k+1)

and so min, max_by (of places in order), bit_and and bit_or; bit_xor is a sum that is its own inverse.
Cost: O(n) for sums and counts, O(n log n) for what is folded, whatever the frames' lengths.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import fixed_values, int64_array, validity
from dbsp.circuits.columns.exact_sums import sum_ranges
from dbsp.circuits.columns.order_codes import from_order_bits, has_order_bits, order_bits
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.columns.sorting import dense_ranks, sort_keys
from dbsp.circuits.operators.groups.aggregates.sums import Fitting, averages, require_fitting, sums
from dbsp.circuits.operators.groups.windows.calls import WindowFunction
from dbsp.circuits.operators.groups.windows.partitions import Runs
from dbsp.circuits.operators.groups.windows.parts import COUNT, Ahead, digits, doubles
from dbsp.circuits.traces.blocks.extremes import Extremes, nothing


def counts(array: pa.Array, frame: Runs, ahead: Ahead | None = None) -> np.ndarray:
    """int64[n]: values that aren't NULL in each frame, and ahead of it."""
    start, stop = frame
    if ahead is None and not array.null_count:
        return stop - start
    return _between(validity(array).astype(np.int64), frame) + (0 if ahead is None else ahead.of(COUNT))


def total(call: WindowFunction, array: pa.Array, frame: Runs, ahead: Ahead | None = None) -> pa.Array:
    """sum: NULL without values. Raises EvaluationError where one is out of range."""
    valid = counts(array, frame, ahead) > 0
    if pt.is_floating(array.type):
        return pa.array(_doubles(array, frame, ahead), mask=~valid)
    return _fitting(call, sums(_digits(array, frame, ahead), valid, call.type), valid)


def average(call: WindowFunction, array: pa.Array, frame: Runs, ahead: Ahead | None = None) -> pa.Array:
    """avg: NULL without values. Raises EvaluationError where one is out of range."""
    there = counts(array, frame, ahead)
    valid = there > 0
    if pt.is_floating(array.type):
        return pa.array(_doubles(array, frame, ahead) / np.where(valid, there, 1), mask=~valid)
    scale = call.type.scale - array.type.scale if pt.is_decimal(call.type) else 0
    return _fitting(call, averages(_digits(array, frame, ahead), there, scale, valid, call.type), valid)


def _fitting(call: WindowFunction, found: Fitting, valid: np.ndarray) -> pa.Array:
    results, fits = found
    if not call.lenient:
        require_fitting(fits, valid, call.type)
    return results


def _doubles(array: pa.Array, frame: Runs, ahead: Ahead | None) -> np.ndarray:
    return sum_ranges(doubles(array), *frame, None if ahead is None else ahead.limbs)


def _digits(array: pa.Array, frame: Runs, ahead: Ahead | None) -> np.ndarray:
    """int64[L, n]: the exact sum of each frame's integers or decimals, and of what is ahead of it."""
    found = [_between(part, frame) for part in digits(array)]
    if ahead is not None:
        found = [part + ahead.of(number) for number, part in enumerate(found)]
    return np.stack(found)


def extreme(call: WindowFunction, array: pa.Array, frame: Runs, ahead: Extremes | None = None) -> pa.Array:
    """min and max: NULL without values; NaN is the greatest. ahead: of what frames have in front of their
    partition's rows, order bits, and weights where there are some.
    """
    if not has_order_bits(array.type):
        return beside_extreme(call, array, array, frame)
    least, valid = _is_least(call), counts(array, frame) > 0
    found = _extremes(_coded(order_bits(array), validity(array), least), frame, least)
    if ahead is not None:
        codes, weights = ahead
        found = _pick(least)(np.where(valid, found, nothing(least)), codes)
        valid = valid | (weights > 0)
    return from_order_bits(found, valid, array.type)


def beside_extreme(call: WindowFunction, ordering: pa.Array, value: pa.Array, frame: Runs) -> pa.Array:
    """max_by and min_by: the value beside the extreme ordering but NULL, of several the extreme one."""
    exact = [*sort_keys(ordering), *sort_keys(ordering, exact=True)]
    if value is not ordering:
        exact += [*sort_keys(value), *sort_keys(value, exact=True)]
    known = validity(ordering)
    ranks = dense_ranks(exact, len(value))
    found = _extremes(_coded(ranks, known, _is_least(call)), frame, _is_least(call))
    place = np.zeros(len(value) + 1, dtype=np.int64)
    place[ranks] = np.arange(len(value))
    valid = counts(ordering, frame) > 0
    return value.take(pa.array(place[np.where(valid, found, -1)], mask=~valid))


def _is_least(call: WindowFunction) -> bool:
    return call.function in ("min", "min_by")


def _coded(codes: np.ndarray, known: np.ndarray, least: bool) -> np.ndarray:
    """The codes, of NULL one that is never the extreme."""
    return codes if known.all() else np.where(known, codes, nothing(least))


def bits(call: WindowFunction, array: pa.Array, frame: Runs) -> pa.Array:
    """bit_and, bit_or, bit_xor: NULL without values."""
    operator, nothing = _BITS[call.function]
    known = validity(array)
    words = np.where(known, fixed_values(array), nothing).astype(np.int64)
    if operator is np.bitwise_xor:  # its own inverse
        prefix = np.concatenate([[0], np.bitwise_xor.accumulate(words)])
        found = prefix[frame[1]] ^ prefix[frame[0]]
    else:
        found = _folded(words, frame, operator)
    return pa.array(found, mask=counts(array, frame) <= 0).cast(array.type)


_BITS = {"bit_and": (np.bitwise_and, -1), "bit_or": (np.bitwise_or, 0), "bit_xor": (np.bitwise_xor, 0)}


def _extremes(codes: np.ndarray, frame: Runs, least: bool) -> np.ndarray:
    return _folded(codes, frame, _pick(least))


def _pick(least: bool) -> np.ufunc:
    return np.minimum if least else np.maximum


def _folded(codes: np.ndarray, frame: Runs, pick: np.ufunc) -> np.ndarray:
    """int64[n]: pick over each frame's codes, any of them once or twice; anything where it is empty."""
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


def lists(array: pa.Array, frame: Runs, data_type: pa.DataType) -> pa.Array:
    """Each frame's values, in order."""
    lengths = frame[1] - frame[0]
    _, places = expand_ranges(*frame)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), array.take(int64_array(places)), type=data_type
    )


def _between(values: np.ndarray, frame: Runs) -> np.ndarray:
    prefix = np.concatenate([[0], np.cumsum(values)])
    return np.asarray(prefix[frame[1]] - prefix[frame[0]])
