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

from dbsp.circuits.columns.arrow import concat, int64_array, take
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.groups import Groups
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.sorting import SortKey, sort_rows
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

Owned = tuple[np.ndarray, Batch]  # the group of each row


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
    integral: Integral, groups: Groups, keys: Sequence[int], order: Sequence[SortKey] = (), seed: int = 0
) -> Touched:
    """integral: an Integrate node's, placed by the `keys` columns or some of them, without accumulators.

    groups: of its delta, by the columns `keys`.
    """
    delta = integral.delta
    found = integral.find(groups.keys, delta.keys[groups.first], tuple(keys), whole_key=False)
    before = [(wanted, batch.take(there)) for wanted, batch, there in found]
    changes = (groups.owner, delta)
    return list_rows(integral.layout, groups.keys, len(groups.first), before, changes, order, seed)


def held_rows(integral: Integral, groups: Groups, partition: tuple[int, ...]) -> tuple[np.ndarray, Batch]:
    """(group of each row, the rows of the groups that a trace holds now, each once, in any order)."""
    found = [
        (owner, batch.take(there))
        for owner, batch, there in integral.find(groups.keys, groups.hashes, partition, whole_key=False)
    ]
    return each_once(integral.layout, found)


def each_once(layout: Layout, found: list[Owned]) -> tuple[np.ndarray, Batch]:
    """(group of each row, the rows of a trace by their groups, each once, in any order)."""
    if not found:
        return np.zeros(0, dtype=np.int64), Batch.empty(layout)
    owner, keys, weights = (
        np.concatenate(parts)
        for parts in zip(*((owner, batch.keys, batch.weights) for owner, batch in found), strict=True)
    )
    rows = concat(layout.schema, [batch.rows for _, batch in found])
    order, starts = group_rows(rows.columns, keys)
    if len(starts) < len(order):
        weights = np.add.reduceat(weights[order], starts)
        first = order[starts]
        (there,) = weights.nonzero()
        at = first[there]
        return owner[at], Batch(keys[at], take(rows, at), weights[there])
    return owner, Batch(keys, rows, weights)


def list_rows(
    layout: Layout,
    keys: list[pa.Array],
    count: int,
    before: list[Owned],
    changes: Owned,
    order: Sequence[SortKey],
    seed: int,
) -> Touched:
    """The given rows of `count` groups, each once, in order. before: the trace's; changes: the step's."""
    assert len(layout.identity) == len(layout.schema), "a trace of accumulators has no rows to list"
    parts = [changes, *before]
    listed = concat(layout.schema, [batch.rows for _, batch in parts])
    group = np.concatenate([owner for owner, _ in parts])
    after = np.concatenate([batch.weights for _, batch in parts])
    was = after.copy()
    was[: len(changes[0])] = 0
    # the sort key of a batch hashes whole rows, unless its low half is an order code
    if layout.order is None:
        hashed = np.concatenate([batch.keys for _, batch in parts])
    else:
        hashed = hash_rows(listed.columns, len(group), seed)
    same, opens = group_rows(listed.columns, hashed)
    if len(same):
        was = np.maximum(np.add.reduceat(was[same], opens), 0)
        after = np.maximum(np.add.reduceat(after[same], opens), 0)
    there = np.flatnonzero(was + after)
    kept = same[opens[there]]
    listed, group = take(listed, kept), group[kept]
    ordered, peers = sort_rows(listed, group, order)
    sides = was[there][ordered], after[there][ordered]
    return Touched(keys, count, take(listed, ordered), group[ordered], peers, *sides)


Side = tuple[np.ndarray, list[pa.Array]]  # ascending positions into the rows, and further columns


def difference(schema: pa.Schema, rows: pa.RecordBatch, before: Side, after: Side, seed: int) -> ZSet:
    """−before + after, consolidated. Rows that stay as they are, most of a group most of the time, are not
    looked at; where each of `rows` is there once, all others differ.
    """
    was, is_ = before[0], after[0]
    often = [np.bincount(at, minlength=rows.num_rows) for at in (was, is_)]
    as_often = often[0] == often[1]
    gone, come = ~as_often[was], ~as_often[is_]
    old, new = np.flatnonzero(~gone), np.flatnonzero(~come)
    same = equal_rows(before[1], old, after[1], new)
    gone[old[~same]] = come[new[~same]] = True
    parts = []
    for (at, columns), kept in ((before, np.flatnonzero(gone)), (after, np.flatnonzero(come))):
        both = [*take(rows, at[kept]).columns, *(column.take(int64_array(kept)) for column in columns)]
        parts.append(pa.RecordBatch.from_arrays(both, schema=schema))
    weights = np.concatenate([np.full(len(parts[0]), -1), np.ones(len(parts[1]))]).astype(np.int64)
    change = ZSet(concat(schema, parts), weights)
    return change if all(each.max(initial=0) <= 1 for each in often) else change.consolidate(seed)


def of_groups(side: Side, wanted: np.ndarray) -> Side:
    """Those of a side that are wanted. wanted: bool per row of what it points into."""
    row, columns = side
    kept = np.flatnonzero(wanted[row])
    return row[kept], [column.take(int64_array(kept)) for column in columns]
