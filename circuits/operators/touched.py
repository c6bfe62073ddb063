"""Touched groups: all rows of the groups that a step changes, as they were before it and are after it.

    f^Δ(d) = −f(i|T) + f((i + d)|T)        T = groups of d,  i|T: the rows of i in those groups

for any f that works group by group: window functions, percentiles, collected lists. `touched_groups` lists
the rows of both sides once, sorted, so that f is a few vectorised passes over all groups together.

State: the trace that is read.  Cost: O(g log |I|) for g groups, and O(r log r) for their r rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from circuits.arrow import concat, take
from circuits.grouping import group_rows
from circuits.hashing import hash_rows
from circuits.sorting import SortKey, sort_rows
from circuits.trace import Integral


@dataclass(frozen=True, eq=False)
class Touched:
    """keys: the touched groups' key columns, one row a group. rows: n rows, each once, in order: by group,
    then by the sort keys, then by the whole row. group: int64[n], ascending. peers: int64[n], ascending: the
    same for rows of one group that the sort keys don't tell apart. before, after: int64[n], how often the
    row is there on either side of the step; never negative, and not both 0.
    """

    keys: list[pa.Array]
    count: int
    rows: pa.RecordBatch
    group: np.ndarray
    peers: np.ndarray
    before: np.ndarray
    after: np.ndarray

    def sizes(self, weights: np.ndarray) -> np.ndarray:
        """int64[count]: rows of each group, copies counted, by weights `before` or `after`."""
        totals = np.concatenate([[0], np.cumsum(weights)])
        starts = np.searchsorted(self.group, np.arange(self.count + 1))
        return np.asarray(np.diff(totals[starts]))


def touched_groups(
    integral: Integral, keys: Sequence[int], order: Sequence[SortKey] = (), seed: int = 0
) -> Touched:
    """integral: an Integrate node's, placed by the `keys` columns or some of them, without accumulators.

    keys: the columns that make a group; none: one group.
    """
    layout, delta = integral.layout, integral.delta
    assert len(layout.identity) == len(layout.schema), "a trace of accumulators has no rows to list"
    columns = [delta.rows.column(i) for i in keys]
    by, starts = group_rows(columns, hash_rows(columns, len(delta), seed))
    first = by[starts]
    groups = take(delta.rows.select(list(keys)), first).columns if keys else []
    owner = np.empty(len(delta), dtype=np.int64)
    owner[by] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(by)))
    owners, rows, hashes = [owner], [delta.rows], [delta.keys]
    weights = [delta.weights]
    for wanted, batch, there in integral.find(groups, delta.keys[first], tuple(keys), whole_key=False):
        owners.append(wanted)
        rows.append(take(batch.rows, there))
        hashes.append(batch.keys[there])
        weights.append(batch.weights[there])
    listed = concat(layout.schema, rows)
    group, after = np.concatenate(owners), np.concatenate(weights)
    before = after.copy()
    before[: len(delta)] = 0
    # the sort key of a batch hashes whole rows, unless its low half is an order code
    ordinary = layout.order is None
    hashed = np.concatenate(hashes) if ordinary else hash_rows(listed.columns, len(group), seed)
    same, opens = group_rows(listed.columns, hashed)
    if len(same):
        before = np.maximum(np.add.reduceat(before[same], opens), 0)
        after = np.maximum(np.add.reduceat(after[same], opens), 0)
    there = np.flatnonzero(before + after)
    kept = same[opens[there]]
    listed, group = take(listed, kept), group[kept]
    ordered, peers = sort_rows(listed, group, order)
    sides = before[there][ordered], after[there][ordered]
    return Touched(groups, len(starts), take(listed, ordered), group[ordered], peers, *sides)
