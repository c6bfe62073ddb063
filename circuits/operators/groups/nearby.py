"""The rows of large groups that lie near some sort keys, from a trace ordered within the group.

Of each run the rows between two keys are read, and some before and after. All rows are known that lie within
the *horizon*: the nearest row of any run that isn't read. If those on one side are too few, copies counted
and what cancels subtracted, more are read.
Cost: O(log n) a range and run, and the rows in it, as long as few of the rows near it cancel each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import every, int64_array, validity
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.groups import Groups
from dbsp.circuits.columns.order_codes import from_order_bits, order_bits, order_code
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.touched import Owned, Touched, list_rows
from dbsp.circuits.operators.groups.windows.heads import Heads, heads_of
from dbsp.circuits.operators.groups.windows.near import Sight
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.blocks.extremes import Extreme
from dbsp.circuits.traces.blocks.sums import Ranges
from dbsp.circuits.traces.layout import HIGH, LOW, of_placement, with_low
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral, disjoint

# of so many times the rows near some keys it is worth to look for those
_WORTH = 8
_ONE = np.array(1, np.uint64)


@dataclass(frozen=True, eq=False)
class Near:
    """Which rows: with sort keys first[i] <= key <= last[i] of the group owner[i], at least `before` more of
    the group before them, if it has them, and `after` behind; and as many whose value isn't NULL of each of
    the columns `known`.
    """

    first: np.ndarray
    last: np.ndarray
    owner: np.ndarray
    before: int
    after: int
    known: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Found:
    """rows: run by run; of range i all rows of its group with least[i] <= key <= most[i]. groups: where each
    run has the group of each range: (run, start, stop), start <= position < stop.
    """

    rows: list[Owned]
    least: np.ndarray
    most: np.ndarray
    groups: list[Ranges]

    def in_front(self, descending: bool) -> list[Ranges]:
        """Where each run has the rest of each range's group, in front of its rows."""
        listed = [run.ranges(self.least, self.most) for run, _, _ in self.groups]
        if descending:
            return [(run, own[1], stop) for (run, _, stop), own in zip(self.groups, listed, strict=True)]
        return [(run, start, own[0]) for (run, start, _), own in zip(self.groups, listed, strict=True)]


def nearby(runs: Sequence[SortedRun], groups: Groups, columns: Sequence[int], near: Near) -> Found | None:
    """The rows of some groups near some keys; others of the groups may be among them.

    runs: placed by the groups' keys, which are their `columns`. None: all rows of the groups are to be read,
    since they are few, or the hashes of two groups' keys begin alike.
    """
    few = _WORTH * len(near.first) * (1 + near.before + near.after) * len(runs)
    if sum(map(len, runs)) <= few:  # as no group has more
        return None
    high = groups.hashes & HIGH
    within = [_InRun(run, high, near) for run in runs]
    rows = sum(one.rows for one in within)
    if rows <= few or (high[1:] == high[:-1]).any() or 4 * rows < _WORTH * sum(one.listed for one in within):
        return None
    batches, least, most = _around(within, near)
    found = []
    for batch in batches:
        owner = high.searchsorted(batch.keys & HIGH)
        own = [batch.column(i) for i in columns]
        if not every(equal_rows(groups.keys, owner, own, np.arange(len(batch)))):
            return None
        found.append((owner, batch))
    return Found(found, least, most, [(one.run, one.first, one.last) for one in within])


def touched_nearby(
    integral: Integral, groups: Groups, keys: Sequence[int], order: Sequence[SortKey], seen: Sight, seed: int
) -> tuple[Touched, Heads | None] | None:
    """`touched_groups`, but only of rows near those that change: as far as is seen, before and after each;
    and what is in front of them, if they see that.

    integral: placed by all of `keys`, ordered by the first column of `order`. None: all rows of the groups
    are to be listed.
    """
    delta = integral.delta
    changed, first = np.unique(delta.keys, return_index=True)
    least, most = changed, changed
    if seen.values:
        values = delta.rows.column(order[0].column).take(int64_array(first))
        least, most = (_moved(changed, values, far) for far in (-seen.values, seen.values))
    near = Near(least, most, groups.owner[first], seen.places, seen.places, seen.known)
    if seen.onward:
        near = _onward(near, groups, order[0].descending)
    found = nearby(integral.before, groups, keys, near)
    if found is None:
        return None
    heads = None
    if seen.onward:
        heads = heads_of(found.in_front(order[0].descending), groups, keys)
        if heads is None or not all(heads.tells(Extreme(*extreme)) for extreme in seen.extremes):
            return None
    changes = groups.owner, delta
    count = len(groups.first)
    return list_rows(integral.layout, groups.keys, count, found.rows, changes, order, seed), heads


def _onward(near: Near, groups: Groups, descending: bool) -> Near:
    """From the first of each group's ranges to the end of the group, in the order, which may be the trace's
    backwards.
    """
    start, end = of_placement(groups.hashes)
    if descending:
        last = start.copy()
        np.maximum.at(last, near.owner, near.last)
        return Near(start, last, np.arange(len(last)), 0, near.after, near.known)
    first = end.copy()
    np.minimum.at(first, near.owner, near.first)
    return Near(first, end, np.arange(len(first)), near.before, 0, near.known)


def _moved(keys: np.ndarray, values: pa.Array, far: int) -> np.ndarray:
    """The sort keys of values so far from these, or of their type's last one; a NULL's key is its own."""
    known, own, kind = validity(values), order_bits(values), np.iinfo(f"int{values.type.bit_width}")
    far = max(-kind.max, min(far, kind.max))
    if far < 0:
        moved = np.where(own < kind.min - far, kind.min, own + far)
    else:
        moved = np.where(own > kind.max - far, kind.max, own + far)
    codes = order_code(from_order_bits(moved, known, values.type))
    return np.where(known, with_low(keys, codes.astype(np.uint64)), keys)


class _InRun:
    """Where a run has the ranges, and the groups of those."""

    def __init__(self, run: SortedRun, high: np.ndarray, near: Near) -> None:
        first, last = run.ranges(*of_placement(high))
        self.run, self.rows = run, int(np.sum(last - first))
        self.first, self.last = first[near.owner], last[near.owner]
        self._near = near

    @property
    def listed(self) -> int:
        """Rows of the ranges, some of them in several."""
        start, stop = self._own
        return int(np.sum(stop - start))

    @cached_property
    def _own(self) -> tuple[np.ndarray, np.ndarray]:
        return self.run.ranges(self._near.first, self._near.last)

    def around(self, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(begin, end) of the rows of each range, and so many of its group on both sides."""
        start, stop = self._own
        return np.maximum(self.first, start - before), np.minimum(self.last, stop + after)


def _around(runs: list[_InRun], near: Near) -> tuple[list[Batch], np.ndarray, np.ndarray]:
    """(of every run the rows of the ranges, and as many around them as all runs together need, each once;
    the least and the greatest key of those of each range)
    """
    before, after = (np.full(len(near.first), places) for places in (near.before, near.after))
    while True:
        (least, _), (_, most) = of_placement(near.first), of_placement(near.last)
        found = []
        for one in runs:
            begin, end = one.around(before, after)
            (more,), (further,) = (begin > one.first).nonzero(), (end < one.last).nonzero()
            # of the key of the next row that isn't read some may be
            least[more] = np.maximum(least[more], one.run.keys(begin[more] - 1) + _ONE)
            most[further] = np.minimum(most[further], one.run.keys(end[further]) - _ONE)
            start, last = disjoint(begin, end - 1)
            found.append(one.run.take(expand_ranges(start, last + 1)[1]))
        few, few_after = _lacking(found, near, least, most)
        if not few.any() and not few_after.any():
            return [batch.take(_inside(batch.keys, least, most)) for batch in found], least, most
        before[few] *= 4
        after[few_after] *= 4


def _lacking(
    found: list[Batch], near: Near, least: np.ndarray, most: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """bool per range: whether too few rows are known before it, and behind it, of a group that has more."""
    if not near.before and not near.after:
        nothing = np.zeros(len(least), dtype=np.bool_)
        return nothing, nothing
    counted = [_Counted(found, column) for column in (None, *near.known)]
    fewest = np.min([rows.below(near.first) - rows.below(least) for rows in counted], axis=0)
    fewest_after = np.min([rows.up_to(most) - rows.up_to(near.last) for rows in counted], axis=0)
    return (least & LOW > 0) & (fewest < near.before), (most & LOW < LOW) & (fewest_after < near.after)


class _Counted:
    """How many rows, copies counted, have sort keys below some, or up to them. column: of rows whose value
    isn't NULL; None: of all.
    """

    def __init__(self, found: list[Batch], column: int | None) -> None:
        keys = np.concatenate([batch.keys for batch in found])
        weights = np.concatenate([batch.weights for batch in found])
        if column is not None:
            weights = weights * np.concatenate([validity(batch.column(column)) for batch in found])
        order = keys.argsort()
        self._keys, self._before = keys[order], np.concatenate([[0], weights[order].cumsum()])

    def below(self, keys: np.ndarray) -> np.ndarray:
        return self._before[self._keys.searchsorted(keys, "left")]

    def up_to(self, keys: np.ndarray) -> np.ndarray:
        return self._before[self._keys.searchsorted(keys, "right")]


def _inside(keys: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """The positions of those with least[i] <= key <= most[i] for some i."""
    least, most = disjoint(least, most)
    at = least.searchsorted(keys, "right") - 1
    return ((at >= 0) & (keys <= most[at])).nonzero()[0]
