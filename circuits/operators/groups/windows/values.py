"""Aggregates of all values of a frame that its sums and extremes don't give.

    statistics            Σ of parts over a…b = P[b] − P[a]         P: prefix sums of parts         O(n)
    percentiles           the k-th of a…b, by halving values        `quantiles.py`                  O(n log n)
    mode of all up to b   the value of the greatest count so far    a running maximum               O(n log n)
    any other             of the values of a…b, as of GROUP BY: frames are its groups               O(Σ b − a)

Rows that take no part (FILTER, NULL) are left out before. Frames that are alike, as those of peers, or of a
whole partition, are one. Each gives what GROUP BY gives for the frame's rows, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array, is_true, retyped, validity
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.columns.sorting import exact_ranks
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.groups.aggregates.collected import Mode, picked
from dbsp.circuits.operators.groups.aggregates.percentiles import Percentile, Places, copies
from dbsp.circuits.operators.groups.aggregates.statistics import Statistic
from dbsp.circuits.operators.groups.state.members import Finalizer, Members
from dbsp.circuits.operators.groups.windows.calls import WindowFunction
from dbsp.circuits.operators.groups.windows.frames import bounds
from dbsp.circuits.operators.groups.windows.partitions import Partitions, Runs
from dbsp.circuits.operators.groups.windows.quantiles import Quantiles

# frames, and values of frames, that are worked on at a time
_FRAMES, _VALUES = 1 << 16, 1 << 20


@dataclass(frozen=True, eq=False)
class Framed:
    """The rows that take part. columns: the arguments. partition: int64[n], ascending. start, stop: int64[f],
    where each frame lies among them.
    """

    columns: list[pa.Array]
    partition: np.ndarray
    start: np.ndarray
    stop: np.ndarray


def is_gathered(call: WindowFunction) -> bool:
    """Whether every frame's values are listed."""
    return call.values is not None and not call.frame.is_whole and _method(call) is _gathered


def of_values(call: WindowFunction, rows: Partitions) -> pa.Array:
    """The value of `call.values` for each row."""
    assert call.values is not None
    start, stop = bounds(call.frame, rows)
    opens = np.ones(len(rows), dtype=np.bool_)
    opens[1:] = (np.diff(start) != 0) | (np.diff(stop) != 0)
    first = np.flatnonzero(opens)
    framed = _taking_part(call, rows, (start[first], stop[first]))
    try:
        made = _method(call)(call.values.finalizer, framed, call.type)
    except EvaluationError as error:
        error.row = None if error.row is None else int(first[error.row])
        raise
    return made.take(int64_array(np.cumsum(opens) - 1))


def _taking_part(call: WindowFunction, rows: Partitions, frames: Runs) -> Framed:
    assert call.values is not None
    columns = [rows.column(i) for i in call.arguments]
    kept = np.ones(len(rows), dtype=np.bool_)
    if call.filtered:
        kept &= is_true(columns.pop())
    for i in call.values.required:
        kept &= validity(columns[i])
    if kept.all():
        return Framed(columns, rows.partition, *frames)
    before, taken = np.concatenate([[0], np.cumsum(kept)]), np.flatnonzero(kept)
    columns = [column.take(int64_array(taken)) for column in columns]
    return Framed(columns, rows.partition[taken], before[frames[0]], before[frames[1]])


Method = Callable[[Finalizer, Framed, pa.DataType], pa.Array]


def _method(call: WindowFunction) -> Method:
    assert call.values is not None
    if isinstance(call.values.finalizer, Mode) and call.frame.lower is not None:
        return _mode_from if call.frame.upper is None else _gathered
    return _METHODS.get(type(call.values.finalizer), _gathered)


# ---- prefix sums


def _statistics(finalizer: Finalizer, framed: Framed, data_type: pa.DataType) -> pa.Array:
    assert finalizer.split is not None
    row, (moment, index), digit = finalizer.split.split(framed.columns)
    by = np.lexsort((index, moment))
    opens = np.flatnonzero(
        np.diff(moment[by], prepend=-1) | np.diff(index[by], prepend=np.iinfo(np.int64).min)
    )
    parts = []
    for same in np.split(by, opens[1:]) if len(by) else []:
        # a value has a digit of a moment and index once
        dense = np.zeros(len(framed.partition) + 1, dtype=np.int64)
        dense[row[same] + 1] = digit[same]
        parts.append((moment[same[0]], index[same[0]], np.cumsum(dense)))
    results = [pa.array([], data_type)]
    for first in range(0, len(framed.start), _FRAMES):
        start, stop = framed.start[first : first + _FRAMES], framed.stop[first : first + _FRAMES]
        owners, moments, indices, digits = ([np.zeros(0, dtype=np.int64)] for _ in range(4))
        for moment_, index_, prefix in parts:
            sums = prefix[stop] - prefix[start]
            there = np.flatnonzero(sums)
            owners.append(there)
            moments.append(np.full(len(there), moment_))
            indices.append(np.full(len(there), index_))
            digits.append(sums[there])
        owner, *columns = (np.concatenate(each) for each in (owners, moments, indices, digits))
        members = Members(owner, [*map(int64_array, columns)], np.ones_like(owner), len(start))
        results.append(finalizer.finalize(members, data_type))
    return pa.concat_arrays(results)


# ---- order


def _percentile(finalizer: Finalizer, framed: Framed, data_type: pa.DataType) -> pa.Array:
    assert isinstance(finalizer, Percentile)
    value = framed.columns[0]
    ranks = exact_ranks(value, finalizer.descending)
    often = copies(framed.columns[1]) if finalizer.frequencies else np.ones_like(ranks)
    return finalizer.of(_InFrames(value, ranks, often, framed), data_type)


class _InFrames(Places):
    """Of each frame, the values in order, each so often."""

    def __init__(self, values: pa.Array, ranks: np.ndarray, often: np.ndarray, framed: Framed) -> None:
        self._values, self._framed = values, framed
        self._order = Quantiles(ranks, often)
        self._of_rank = np.zeros(len(ranks) + 1, dtype=np.int64)
        self._of_rank[ranks] = np.arange(len(ranks))
        until = np.concatenate([[0], np.cumsum(often)])
        self.sizes = until[framed.stop] - until[framed.start]

    def values(self, places: np.ndarray) -> pa.Array:
        there = np.tile(self.sizes > 0, len(places))
        start, stop = (np.tile(each, len(places)) for each in (self._framed.start, self._framed.stop))
        rank = self._order.find(start, stop, np.where(there, places.ravel(), 0))
        return self._values.take(pa.array(self._of_rank[np.where(there, rank, -1)], mask=~there))


def _mode(finalizer: Finalizer, framed: Framed, data_type: pa.DataType) -> pa.Array:
    """Of frames from their partition's start: the greatest count so far was reached by the most frequent."""
    assert isinstance(finalizer, Mode)
    value, partition = framed.columns[0], framed.partition
    rank = exact_ranks(value)
    count = len(rank)
    by = np.lexsort((np.arange(count), rank, partition))
    opens = np.ones(count, dtype=np.bool_)
    opens[1:] = (np.diff(partition[by]) != 0) | (np.diff(rank[by]) != 0)
    starts = np.flatnonzero(opens)
    so_far = np.empty(count, dtype=np.int64)
    so_far[by] = np.arange(count) - starts[np.cumsum(opens) - 1]
    best = np.lexsort((rank if finalizer.greatest else -rank, so_far, partition))
    place = np.empty(count, dtype=np.int64)
    place[best] = np.arange(count)
    greatest = np.maximum.accumulate(place) if count else place
    there = np.flatnonzero(framed.stop > framed.start)
    return picked(value, there, best[greatest[framed.stop[there] - 1]], len(framed.start))


def _mode_from(finalizer: Finalizer, framed: Framed, data_type: pa.DataType) -> pa.Array:
    """Of frames to their partition's end: the same, backwards."""
    count = len(framed.partition)
    columns = [column.take(int64_array(np.arange(count)[::-1].copy())) for column in framed.columns]
    partition = (framed.partition.max(initial=0) - framed.partition)[::-1]
    backwards = Framed(columns, partition, count - framed.stop, count - framed.start)
    return _mode(finalizer, backwards, data_type)


# ---- all values


def _gathered(finalizer: Finalizer, framed: Framed, data_type: pa.DataType) -> pa.Array:
    results = [pa.array([], data_type)]
    for first, last in _blocks(framed.stop - framed.start):
        owner, places = expand_ranges(framed.start[first:last], framed.stop[first:last])
        columns = [column.take(int64_array(places)) for column in framed.columns]
        try:
            results.append(finalizer.finalize(_members(finalizer, columns, owner, last - first), data_type))
        except EvaluationError as error:
            error.row = None if error.row is None else first + error.row
            raise
    return pa.concat_arrays([retyped(result, data_type) for result in results])


def _blocks(lengths: np.ndarray) -> Iterator[tuple[int, int]]:
    """Stretches of frames with about `_VALUES` values, unless one frame has more."""
    ends = np.cumsum(lengths)
    first = 0
    while first < len(ends):
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + _VALUES, "right")))
        yield first, last
        first = last


def _members(finalizer: Finalizer, columns: list[pa.Array], owner: np.ndarray, count: int) -> Members:
    if finalizer.split is None:
        return Members(owner, columns, np.ones(len(owner), dtype=np.int64), count)
    row, index, amount = finalizer.split.split(columns)
    parts = [*map(pa.array, index), pa.array(amount)]
    return Members(owner[row], parts, np.ones(len(row), dtype=np.int64), count)


_METHODS: dict[type[Finalizer], Method] = {Statistic: _statistics, Percentile: _percentile, Mode: _mode}
