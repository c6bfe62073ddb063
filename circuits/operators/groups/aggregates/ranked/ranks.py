"""The k-th value of groups, over all runs of a trace ordered within the group, of which few rows are read.

    code(g, k) = the least c with F(g, c) > k        F(g, c) = Σ { w(i) : i of g, code(i) <= c }

F is a sum over runs of differences of prefix sums. It grows with c, as no value is there less than not at
all, though a run may hold what another one takes back. The codes that are left are cut into sixteen parts,
for all groups, places and both sides of a step at once, until of a place few rows are left, or one code. They
are listed, and put in their exact order.

Cost: at most eight rounds, of O(log n) a place, part and run; and the rows that share one code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.aggregates.percentiles import InGroups, Places
from dbsp.circuits.operators.groups.state.members import Members
from dbsp.circuits.traces.blocks.sums import Ranges
from dbsp.circuits.traces.blocks.weights import PrefixWeights
from dbsp.circuits.traces.layout import LOW, with_low
from dbsp.circuits.traces.sorted_run import SortedRun

# so few rows of a place are listed
_FEW = 64
_PARTS = 16
# of so many places' parts together the arrays are small
_TOGETHER = 1 << 14


class Ranks:
    """Groups on both sides of a step: of n groups, place g is group g before it, n + g it is after the step.

    ranges: where each run has each group, of one run at least. before: how many of the runs were there before
    the step; the others are of the step. high: high halves of the groups' sort keys. column: of the values.
    """

    def __init__(self, ranges: Sequence[Ranges], before: int, high: np.ndarray, column: int) -> None:
        self._high, self._column = np.tile(high, 2), column
        self._runs = []
        for i, (run, start, stop) in enumerate(ranges):
            weights, was = PrefixWeights(run, start, stop), stop if i < before else start
            self._runs.append(_Run(run, weights, np.tile(start, 2), np.concatenate([was, stop])))
        self.sizes = np.zeros(len(self._high), np.int64)
        for one in self._runs:
            self.sizes += one.weights.between(one.start, one.stop)

    def values(self, places: np.ndarray, descending: bool) -> pa.Array:
        """`Places.values`, of an order."""
        owner = np.tile(np.arange(len(self.sizes)), len(places))
        sizes, place = self.sizes[owner], places.ravel()
        left = self._search(owner, np.where(descending, sizes - 1 - place, place))
        listed = self._listed(left).listed((SortKey(0, descending),))
        found = InGroups(listed.columns[0], listed.weights, listed.owner, listed.count)
        # in front of what is left lies what is below, or above it
        ahead = sizes - left.below - found.sizes if descending else left.below
        return found.values((place - ahead).reshape(1, -1))

    def _search(self, owner: np.ndarray, rank: np.ndarray) -> _Left:
        """rank: int64[n], of each owner, from the least value."""
        left = _Left.of(self._runs, owner, self.sizes[owner] > 0)
        while True:
            (going,) = ((left.rows > _FEW) & (left.least < left.greatest)).nonzero()
            if not len(going):
                return left
            together = _TOGETHER // _PARTS
            for first in range(0, len(going), together):
                self._round(left, going[first : first + together], owner, rank)

    def _round(self, left: _Left, at: np.ndarray, owner: np.ndarray, rank: np.ndarray) -> None:
        """Of those at some places one part is left."""
        width = (left.greatest[at] - left.least[at] + 1)[:, None]
        # the last code of each part; of few codes some parts are empty
        ends = left.least[at][:, None] + width * np.arange(_PARTS + 1) // _PARTS - 1
        keys = with_low(self._high[owner[at]][:, None], np.maximum(ends, 0).astype(np.uint64))
        edges, below = [], np.repeat(left.below[at][:, None], _PARTS + 1, axis=1)
        for one, start, stop in zip(self._runs, left.start, left.stop, strict=True):
            first, last = start[at][:, None], stop[at][:, None]
            edge = np.clip(one.run.up_to(keys[:, 1:-1].ravel()).reshape(len(at), -1), first, last)
            edge = np.concatenate([first, edge, last], axis=1)
            edges.append(edge)
            raised = one.weights.between(edge[:, :-1].ravel(), edge[:, 1:].ravel())
            below[:, 1:] += raised.reshape(len(at), -1).cumsum(axis=1)
        part = np.count_nonzero(below[:, 1:-1] <= rank[at][:, None], axis=1)
        each = np.arange(len(at))
        for (start, stop), edge in zip(zip(left.start, left.stop, strict=True), edges, strict=True):
            start[at], stop[at] = edge[each, part], edge[each, part + 1]
        left.least[at], left.greatest[at] = ends[each, part] + 1, ends[each, part + 1]
        left.below[at] = below[each, part]

    def _listed(self, left: _Left) -> Members:
        """The rows that are left, of each place."""
        parts = []
        schema = pa.schema([self._runs[0].run.batches[0].schema.field(self._column)])
        for one, start, stop in zip(self._runs, left.start, left.stop, strict=True):
            owner, there = expand_ranges(start, stop)
            batch = one.run.take(there)
            parts.append(Members(owner, [batch.column(self._column)], batch.weights, len(left.below)))
        return Members.sum(schema, parts, len(left.below))


class RankedPlaces(Places):
    """The same, in an order."""

    def __init__(self, ranks: Ranks, descending: bool) -> None:
        self.sizes, self._ranks, self._descending = ranks.sizes, ranks, descending

    def values(self, places: np.ndarray) -> pa.Array:
        return self._ranks.values(places, self._descending)


@dataclass(frozen=True, eq=False)
class _Run:
    """start, stop: int64[places], where it has each."""

    run: SortedRun
    weights: PrefixWeights
    start: np.ndarray
    stop: np.ndarray


@dataclass(frozen=True, eq=False)
class _Left:
    """Where what is looked for may be, int64[n] each: within codes from `least` to `greatest`, of each run at
    start <= position < stop. below: what smaller codes weigh.
    """

    start: list[np.ndarray]
    stop: list[np.ndarray]
    least: np.ndarray
    greatest: np.ndarray
    below: np.ndarray

    @staticmethod
    def of(runs: Sequence[_Run], owner: np.ndarray, there: np.ndarray) -> _Left:
        """Anywhere, of the places that aren't empty."""
        start = [one.start[owner] for one in runs]
        stop = [np.where(there, one.stop[owner], one.start[owner]) for one in runs]
        least, greatest = np.full(len(owner), int(LOW)), np.zeros(len(owner), np.int64)
        for one, first, last in zip(runs, start, stop, strict=True):
            (some,) = (first < last).nonzero()
            codes = (one.run.keys(at) & LOW for at in (first[some], last[some] - 1))
            for edge, found, nearer in zip((least, greatest), codes, (np.minimum, np.maximum), strict=True):
                edge[some] = nearer(edge[some], found.astype(np.int64))
        return _Left(start, stop, least, greatest, np.zeros(len(owner), np.int64))

    @property
    def rows(self) -> np.ndarray:
        return np.asarray(sum(stop - start for start, stop in zip(self.start, self.stop, strict=True)))
