"""The window functions by name, each one value for every row of all partitions.

Let p be a row's place in its partition, n the partition's rows, s…e the places of its peers, all from 0:

    row_number = p + 1          rank = s + 1            dense_rank = the number of runs of peers up to here
    percent_rank = s / (n − 1)  cume_dist = (e + 1) / n  ntile(k): the first n mod k buckets hold one row more
    lead(v, k) = v[p + k]       first_value, last_value, nth_value: by place within the frame

IGNORE NULLS counts places among the rows whose value isn't NULL, FILTER among those of which it is true.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array, is_true, retyped, validity
from dbsp.circuits.operators.groups.windows.calls import WindowFunction
from dbsp.circuits.operators.groups.windows.frames import bounds
from dbsp.circuits.operators.groups.windows.moving import (
    average,
    beside_extreme,
    bits,
    counts,
    extreme,
    lists,
    total,
)
from dbsp.circuits.operators.groups.windows.near import is_extreme_so_far, is_running
from dbsp.circuits.operators.groups.windows.partitions import Partitions, Runs
from dbsp.circuits.operators.groups.windows.parts import Ahead
from dbsp.circuits.operators.groups.windows.values import of_values
from dbsp.circuits.traces.blocks.extremes import Extreme

Function = Callable[[WindowFunction, Partitions], pa.Array]


def evaluate_window(call: WindowFunction, rows: Partitions) -> pa.Array:
    """The function's value for each row, of `call.type`."""
    value = of_values(call, rows) if call.values is not None else FUNCTIONS[call.function](call, rows)
    assert len(value) == len(rows)
    return retyped(value, call.type)


def _row_number(call: WindowFunction, rows: Partitions) -> pa.Array:
    return pa.array(rows.position - rows.whole[0] + rows.skipped + 1)


def _rank(call: WindowFunction, rows: Partitions) -> pa.Array:
    return pa.array(_place_of_peers(rows) + rows.skipped + 1)


def _place_of_peers(rows: Partitions) -> np.ndarray:
    return np.asarray(rows.peers[0] - rows.whole[0])


def _dense_rank(call: WindowFunction, rows: Partitions) -> pa.Array:
    opened = np.cumsum(rows.peers[0] == rows.position)
    return pa.array(opened - opened[rows.whole[0]] + 1)


def _percent_rank(call: WindowFunction, rows: Partitions) -> pa.Array:
    others = np.maximum(_sizes(rows) - 1, 1)
    return pa.array(_place_of_peers(rows) / others)


def _cume_dist(call: WindowFunction, rows: Partitions) -> pa.Array:
    return pa.array((rows.peers[1] - rows.whole[0]) / _sizes(rows))


def _ntile(call: WindowFunction, rows: Partitions) -> pa.Array:
    small, longer = _sizes(rows) // call.number, _sizes(rows) % call.number
    place = rows.position - rows.whole[0]
    in_longer = longer * (small + 1)
    later = longer + (place - in_longer) // np.maximum(small, 1)
    return pa.array(np.where(place < in_longer, place // (small + 1), later) + 1)


def _sizes(rows: Partitions) -> np.ndarray:
    first, last = rows.whole
    return np.asarray(last - first)


def _lead(call: WindowFunction, rows: Partitions) -> pa.Array:
    """Beyond the partition's ends: the default, which is the second argument's value in the current row."""
    value, default = (rows.column(i) for i in call.arguments)
    first, last = rows.whole
    if not call.ignore_nulls or not call.number:
        wanted = rows.position + call.number
        return _picked(value, wanted, (wanted >= first) & (wanted < last), default)
    known = _Known(validity(value))
    # the current row itself is not among those counted
    until = known.before[rows.position + (call.number > 0)]
    place = until + call.number - (call.number > 0)
    there = (place >= known.before[first]) & (place < known.before[last])
    return _picked(value, known.places(place, there), there, default)


def _first_value(call: WindowFunction, rows: Partitions) -> pa.Array:
    start, stop = bounds(call.frame, rows)
    return _nth(call, rows, start, stop, 0)


def _nth_value(call: WindowFunction, rows: Partitions) -> pa.Array:
    start, stop = bounds(call.frame, rows)
    return _nth(call, rows, start, stop, call.number - 1)


def _last_value(call: WindowFunction, rows: Partitions) -> pa.Array:
    start, stop = bounds(call.frame, rows)
    value = rows.column(call.arguments[0])
    counted = _taking_part(call, rows)
    if counted is None:
        return _picked(value, stop - 1, stop > start)
    known = _Known(counted)
    there = known.before[stop] > known.before[start]
    return _picked(value, known.places(known.before[stop] - 1, there), there)


def _nth(call: WindowFunction, rows: Partitions, start: np.ndarray, stop: np.ndarray, place: int) -> pa.Array:
    value = rows.column(call.arguments[0])
    counted = _taking_part(call, rows)
    if counted is None:
        return _picked(value, start + place, start + place < stop)
    known = _Known(counted)
    wanted = known.before[start] + place
    there = wanted < known.before[stop]
    return _picked(value, known.places(wanted, there), there)


def _taking_part(call: WindowFunction, rows: Partitions) -> np.ndarray | None:
    """bool[n]: the rows that a function of places counts; None: all."""
    counted = validity(rows.column(call.arguments[0])) if call.ignore_nulls else None
    if not call.filtered:
        return counted
    condition = is_true(rows.column(call.arguments[-1]))
    return condition if counted is None else counted & condition


class _Known:
    """The rows that count. every: int64[k], where they are. before: int64[n + 1], how many there are before
    each place.
    """

    def __init__(self, counted: np.ndarray) -> None:
        self.every = np.flatnonzero(counted)
        self.before = np.concatenate([[0], np.cumsum(counted)])

    def places(self, number: np.ndarray, there: np.ndarray) -> np.ndarray:
        """The place of the value of each number; anything where it isn't there."""
        return np.append(self.every, 0)[np.where(there, number, len(self.every))]


def _picked(
    values: pa.Array, places: np.ndarray, there: np.ndarray, default: pa.Array | None = None
) -> pa.Array:
    """values[places] where there, else the default's value, else NULL."""
    if default is None or default.null_count == len(default):
        return values.take(pa.array(np.where(there, places, 0), mask=~there))
    both = pa.concat_arrays([values, default])
    return both.take(pa.array(np.where(there, places, len(values) + np.arange(len(there)))))


def _count(call: WindowFunction, rows: Partitions) -> pa.Array:
    frame = bounds(call.frame, rows)
    if not call.arguments:
        return pa.array(frame[1] - frame[0] + (rows.skipped if is_running(call) else 0))
    return pa.array(counts(rows.column(call.arguments[0]), frame, _ahead(call, rows)))


def _ahead(call: WindowFunction, rows: Partitions) -> Ahead | None:
    """What its frames have beyond the rows that are there."""
    if not is_running(call):
        return None
    return rows.ahead(call.arguments[0], summed=call.function != "count")


def _extreme(call: WindowFunction, rows: Partitions) -> pa.Array:
    (argument,) = call.arguments
    ahead = rows.extreme_ahead(Extreme(argument, call.function == "min")) if is_extreme_so_far(call) else None
    return extreme(call, rows.column(argument), bounds(call.frame, rows), ahead)


def _collect_list(call: WindowFunction, rows: Partitions) -> pa.Array:
    """Each frame's values, in order."""
    value, frame = rows.column(call.arguments[0]), bounds(call.frame, rows)
    counted = _taking_part(call, rows)
    if counted is None:
        return lists(value, frame, call.type)
    known = _Known(counted)
    among = known.before[frame[0]], known.before[frame[1]]
    return lists(value.take(int64_array(known.every)), among, call.type)


def _by(call: WindowFunction, rows: Partitions) -> pa.Array:
    ordering, value = (rows.column(i) for i in call.arguments)
    return beside_extreme(call, ordering, value, bounds(call.frame, rows))


def _adding(f: Callable[[WindowFunction, pa.Array, Runs, Ahead | None], pa.Array]) -> Function:
    return lambda call, rows: f(
        call, rows.column(call.arguments[0]), bounds(call.frame, rows), _ahead(call, rows)
    )


def _over(f: Callable[[WindowFunction, pa.Array, Runs], pa.Array]) -> Function:
    return lambda call, rows: f(call, rows.column(call.arguments[0]), bounds(call.frame, rows))


FUNCTIONS: dict[str, Function] = {
    "row_number": _row_number,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "percent_rank": _percent_rank,
    "cume_dist": _cume_dist,
    "ntile": _ntile,
    "lead": _lead,
    "first": _first_value,
    "last": _last_value,
    "nth_value": _nth_value,
    "count": _count,
    "sum": _adding(total),
    "avg": _adding(average),
    "min": _extreme,
    "max": _extreme,
    "max_by": _by,
    "min_by": _by,
    "bit_and": _over(bits),
    "bit_or": _over(bits),
    "bit_xor": _over(bits),
    "collect_list": _collect_list,
}
