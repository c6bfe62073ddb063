"""The nearest row: of each of many keys and times, from a trace in the order of time.

    nearest(i)[k, t] = the row of i of key k with the greatest time of those that t is >= (or >),
                       or with the least of those that t is <= (or <)

The rows of a key lie side by side, in the order of their codes. So the nearest is the outermost of a range
(`outermost.py`): a few rows are fetched at that end of it, and more where those don't decide. Of several rows
of one time it is the first in the order of their columns.
Cost: O(log n) a key and time, and run, as long as the outermost rows decide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, int64_array, take, validity
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.order_codes import order_code
from dbsp.circuits.columns.sorting import SortKey, sort_rows
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.operators.joins.outermost import Outermost, outermost
from dbsp.circuits.operators.linear import where_true
from dbsp.circuits.traces.layout import Layout, of_placement, with_low
from dbsp.circuits.traces.sorted_run import SortedRun

_FIRST_FETCH = 3

# comparison → the one that asks beyond a time for what comes next to it, on its other side
BEYOND = {
    "greater_than_or_equal": "less_than",
    "greater_than": "less_than",
    "less_than_or_equal": "greater_than",
    "less_than": "greater_than",
}


def wants_greatest(comparison: str) -> bool:
    """Whether the nearest is the greatest of those that compare."""
    return comparison.startswith("greater")


@dataclass(frozen=True, eq=False)
class Asked:
    """keys: the key columns; hashes: uint64[n], of them; times: a column. A NULL time has no nearest row."""

    keys: list[pa.Array]
    hashes: np.ndarray
    times: pa.Array

    def take(self, rows: np.ndarray) -> Asked:
        indices = int64_array(rows)
        keys = [key.take(indices) for key in self.keys]
        return Asked(keys, self.hashes[rows], self.times.take(indices))


@dataclass(frozen=True, eq=False)
class Found:
    """there: bool[n], whether there is one. rows: n rows, NULL where there is none."""

    there: np.ndarray
    rows: pa.RecordBatch


def nearest(
    layout: Layout, runs: tuple[SortedRun, ...], columns: tuple[int, ...], asked: Asked, comparison: str
) -> Found:
    """For each key and time the nearest row of the runs' sum, of those with `asked time comparison time`.

    columns: the key's, in a batch. layout: in the order of the time.
    """
    greatest = wants_greatest(comparison)
    code = order_code(asked.times).astype(np.uint64)
    (low, high), own = of_placement(asked.hashes), with_low(asked.hashes, code)
    low, high = (low, own) if greatest else (own, high)
    parts: list[pa.RecordBatch] = []
    place = np.full(len(code), -1, dtype=np.int64)
    left, fetch, held = np.flatnonzero(validity(asked.times)), _FIRST_FETCH, 0
    while len(left):
        fetched = outermost(runs, asked.keys, left, low[left], high[left], columns, greatest, fetch)
        owner, rows = _winners(layout, fetched, asked.times.take(int64_array(left)), comparison)
        place[left[owner]] = held + np.arange(len(owner))
        held += len(owner)
        parts.append(rows)
        decided = fetched.everything
        decided[owner] = True
        left, fetch = left[~decided], fetch * 8
    every = concat(layout.schema, parts)
    indices = pa.array(place, mask=place < 0)
    gathered = pa.RecordBatch.from_arrays([c.take(indices) for c in every.columns], schema=layout.schema)
    return Found(place >= 0, gathered)


def _winners(
    layout: Layout, fetched: Outermost, times: pa.Array, comparison: str
) -> tuple[np.ndarray, pa.RecordBatch]:
    """(groups that have a winner among their complete rows, the winners)."""
    owner = np.concatenate([np.zeros(0, np.int64), *(owner for owner, _ in fetched.parts)])
    rows = concat(layout.schema, [batch.rows for _, batch in fetched.parts])
    weights = np.concatenate([np.zeros(0, np.int64), *(batch.weights for _, batch in fetched.parts)])
    complete = [np.zeros(0, np.bool_), *(fetched.is_complete(*part) for part in fetched.parts)]
    assert layout.order is not None
    kept = np.flatnonzero(np.concatenate(complete))
    own = rows.column(layout.order).take(int64_array(kept))
    compares = Call(comparison, (Column(0, times.type), Column(1, own.type)), pa.bool_())
    both = pa.RecordBatch.from_arrays([times.take(int64_array(owner[kept])), own], names=["asked", "own"])
    kept = kept[where_true(compares, both)]
    owner, rows, weights = owner[kept], take(rows, kept), weights[kept]
    if len(fetched.parts) > 1:  # a row of one run may be taken back in another
        columns = [int64_array(owner), *rows.columns]
        order, starts = group_rows(columns, hash_rows(columns, len(owner)))
        total = np.add.reduceat(weights[order], starts) if len(order) else weights
        first = order[starts[total > 0]]
    else:
        first = np.flatnonzero(weights > 0)
    owner, rows = owner[first], take(rows, first)
    by, _ = sort_rows(rows, owner, [SortKey(layout.order, descending=wants_greatest(comparison))])
    opens = np.flatnonzero(np.diff(owner[by], prepend=-1))
    return owner[by[opens]], take(rows, by[opens])
