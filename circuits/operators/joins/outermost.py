"""The outermost rows of groups: the last or first few of each, from a trace ordered within the group.

The rows of a group lie side by side in each run, sorted by an order code. So the outermost rows of the group
are among the outermost rows of its runs: a few are fetched of each, and those beyond the *horizon* (the
nearest code of which some run may hold more) are complete. If they don't decide, more are fetched.

Where many rows of a run share the code at which fetching ends, they are taken in an order that the reader
asks for (`circuits/traces/blocks/ties.py`): of that code all rows are complete that come before the first one
that wasn't fetched (`edges.py`).
Cost: O(log n) a group and run, as long as the outermost rows decide; once for m rows of one code O(m log m).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, take
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.operators.joins.edges import Edges, Finer
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.blocks.ties import ties_in_order
from dbsp.circuits.traces.layout import LOW
from dbsp.circuits.traces.sorted_run import SortedRun

# so few rows of one code are all fetched: each of the others' takes some calls
_FEW = 1024
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Outermost:
    """parts: (group, row) pairs, run by run. horizon: int64 per group; rows of strictly outer codes are
    complete. greatest: whether outer means greater. edges: no two of them of one group.
    """

    parts: list[tuple[np.ndarray, Batch]]
    horizon: np.ndarray
    greatest: bool
    edges: tuple[Edges, ...] = ()

    @property
    def everything(self) -> np.ndarray:
        """bool per group: all its rows were fetched."""
        return np.asarray((self.horizon == -1) | (self.horizon == 1 << 32))

    def is_complete(self, group: np.ndarray, rows: Batch) -> np.ndarray:
        """bool[n]: whether all rows were fetched of a row's group that are as far out, or tie with it."""
        codes, horizon = codes_of(rows), self.horizon[group]
        complete = np.asarray(codes > horizon if self.greatest else codes < horizon)
        for edges in self.edges:
            (at,) = ((codes == horizon) & np.isin(group, edges.owner)).nonzero()
            if len(at):
                complete[at] = edges.lie_behind(group[at], rows.take(at).rows)
        return complete


def outermost(
    runs: tuple[SortedRun, ...],
    keys: list[pa.Array],
    groups: np.ndarray,
    least: np.ndarray,
    most: np.ndarray,
    columns: tuple[int, ...],
    greatest: bool,
    count: int,
    finer: Finer | None = None,
) -> Outermost:
    """The outermost `count` rows of each group in each run, of those with least[i] <= sort key <= most[i].

    groups: positions into `keys`. columns: where the keys are in a batch. finer: in which order rows of one
    code are taken; None: in any, which decides most groups and costs less. The groups of the result are
    numbered as `groups` lists them.
    """
    horizon = _Horizon(len(groups), greatest)
    parts = []
    for run in runs:
        start, stop = run.ranges(least, most)
        if (start == stop).all():
            continue
        cut = np.maximum(start, stop - count) if greatest else np.minimum(stop, start + count)
        ties = None if finer is None else _Ties(run, start, stop, cut, greatest)
        owner, there = expand_ranges(cut, stop) if greatest else expand_ranges(start, cut)
        (left,) = (cut > start if greatest else cut < stop).nonzero()
        edge = cut[left] - 1 if greatest else cut[left]
        codes, tied = (run.keys(edge) & LOW).astype(np.int64), _NONE
        if ties is not None and finer is not None:
            there, edge, tied = ties.in_order(finer, owner, there, left, edge)
        horizon.meet(left, codes, tied, run.take(edge[tied]) if len(tied) else None)
        batch = run.take(there)
        own = [batch.rows.column(i) for i in columns]
        same = np.flatnonzero(equal_rows(keys, groups[owner], own, np.arange(len(batch))))
        parts.append((owner, batch) if len(same) == len(owner) else (owner[same], batch.take(same)))
    return Outermost(parts, horizon.codes, greatest, horizon.edges(finer))


def codes_of(batch: Batch) -> np.ndarray:
    """int64[n]: each row's order code."""
    return (batch.keys & LOW).astype(np.int64)


class _Ties:
    """Of one run the rows of a code of which some are fetched and others aren't, group by group."""

    def __init__(
        self, run: SortedRun, start: np.ndarray, stop: np.ndarray, cut: np.ndarray, greatest: bool
    ) -> None:
        """cut: where fetching ends. It is moved to the end of those that are few."""
        self._run, self._greatest = run, greatest
        (left,) = (cut > start if greatest else cut < stop).nonzero()
        keys = run.keys(cut[left] - 1 if greatest else cut[left])
        first, last = run.ranges(keys, keys)
        are_cut = last > cut[left] if greatest else first < cut[left]
        are_few = last - first <= _FEW
        (moved,), (many,) = (are_cut & are_few).nonzero(), (are_cut & ~are_few).nonzero()
        cut[left[moved]] = (first if greatest else last)[moved]
        self._groups, self._first, self._last = left[many], first[many], last[many]

    def in_order(
        self, finer: Finer, owner: np.ndarray, there: np.ndarray, left: np.ndarray, edge: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(there, edge, tied): the positions that are fetched, by owner, and the next one of each group that
        has more `left`, where of many ties the first in the order are taken; and which edges are such.
        """
        if not len(self._groups):
            return there, edge, _NONE
        there, edge, tied = there.copy(), edge.copy(), left.searchsorted(self._groups)
        begins, ends = (owner.searchsorted(self._groups, side) for side in ("left", "right"))
        # a run has all rows of one sort key in one batch
        for batch, of, start, stop in self._run.cut(self._first, self._last):
            # each of them has more than a few rows
            for i, begin, end in zip(of.tolist(), start.tolist(), stop.tolist(), strict=True):
                order = ties_in_order(batch, begin, end, finer.order)
                places = self._first[i] + (order[::-1] if self._greatest else order).astype(np.int64)
                own = there[begins[i] : ends[i]] - self._first[i]
                (inside,) = ((own >= 0) & (own < len(places))).nonzero()
                there[begins[i] + inside] = places[own[inside]]
                edge[tied[i]] = places[edge[tied[i]] - self._first[i]]
        return there, edge, tied


class _Horizon:
    """Where fetching ends in the runs so far: the nearest code of each group, and edges of that code."""

    def __init__(self, count: int, greatest: bool) -> None:
        self.codes = np.full(count, -1 if greatest else 1 << 32, dtype=np.int64)
        self._greatest = greatest
        self._has_edges = np.zeros(count, dtype=np.bool_)
        self._edges: list[tuple[np.ndarray, np.ndarray, pa.RecordBatch]] = []

    def meet(self, groups: np.ndarray, codes: np.ndarray, tied: np.ndarray, rows: Batch | None) -> None:
        """In one more run; rows: of `tied`, of whose code the run's first rows were fetched."""
        before = self.codes[groups]
        is_tied = np.zeros(len(groups), dtype=np.bool_)
        is_tied[tied] = True
        nearer = codes > before if self._greatest else codes < before
        # of one code all runs have an edge, or none is known to
        both = self._has_edges[groups] & is_tied
        self._has_edges[groups] = np.where(
            codes == before, both, np.where(nearer, is_tied, self._has_edges[groups])
        )
        self.codes[groups] = np.where(nearer, codes, before)
        if rows is not None:
            self._edges.append((groups[tied], codes[tied], rows.rows))

    def edges(self, finer: Finer | None) -> tuple[Edges, ...]:
        if finer is None or not self._has_edges.any():
            return ()
        owner, codes = (np.concatenate([edge[i] for edge in self._edges]) for i in range(2))
        rows = concat(self._edges[0][2].schema, [rows for _, _, rows in self._edges])
        (kept,) = (self._has_edges[owner] & (codes == self.codes[owner])).nonzero()
        return (Edges(finer, owner[kept], take(rows, kept)),)
