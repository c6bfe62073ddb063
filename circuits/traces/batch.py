"""Batches: immutable sorted runs of a trace, in its `Layout`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import (
    concat,
    every,
    fixed_values,
    from_fixed_values,
    int64_array,
    is_fixed,
    positions_of,
    take,
    take_values,
)
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.narrow.column import Codes, Narrow
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.zset import Grouped, ZSet

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Batch:
    """keys: uint64[n], ascending; rows: n rows; weights: int64[n]."""

    keys: np.ndarray
    rows: pa.RecordBatch
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)

    def __neg__(self) -> Batch:
        """What takes its rows back, of a layout without accumulators."""
        return Batch(self.keys, self.rows, -self.weights)

    @property
    def zset(self) -> ZSet:
        return ZSet(self.rows, self.weights)

    @cached_property
    def first(self) -> int:
        """The least sort key."""
        return int(self.keys[0])

    @cached_property
    def last(self) -> int:
        """The greatest sort key."""
        return int(self.keys[-1])

    @cached_property
    def _summaries(self) -> dict[Hashable, Any]:
        return {}

    def summary(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """What is made of its rows when it is first asked for, and kept for who asks again (`blocks/`)."""
        if what not in self._summaries:
            self._summaries[what] = make()
        made: Made = self._summaries[what]
        return made

    @cached_property
    def plain(self) -> list[np.ndarray | None]:
        """Per column its values, where they have a fixed width, fill whole bytes, and none is NULL."""
        return [plain_values(column) for column in self.rows.columns]

    @property
    def is_narrow(self) -> bool:
        """Whether rows and weights cost something to ask for."""
        return False

    @property
    def whole(self) -> Batch:
        """The same, with rows that cost nothing to ask for."""
        return self

    @property
    def schema(self) -> pa.Schema:
        return self.rows.schema

    def column(self, i: int) -> pa.Array:
        """Of the rows."""
        return self.rows.column(i)

    def stored_column(self, i: int) -> pa.Array | Narrow:
        """Of the rows, as it lies in memory or on the disk."""
        return self.rows.column(i)

    def rows_of(self, columns: Set[int]) -> pa.RecordBatch:
        """The rows for who reads these columns alone: others may be NULL."""
        return self.rows

    def column_at(self, i: int, positions: np.ndarray) -> pa.Array:
        """The values of a column at these positions."""
        values = self.plain[i]
        if values is not None:
            return from_fixed_values(values[positions], self.schema.field(i).type)
        return take_values(self.rows.column(i), positions_of(positions))

    def coded(self, i: int) -> Codes | None:
        """A column of whole numbers; None: `column_at` has to be asked."""
        values = self.plain[i]
        return Codes(values) if values is not None and values.dtype.kind == "i" else None

    def weights_at(self, positions: np.ndarray) -> np.ndarray:
        return np.asarray(self.weights[positions])

    def slice(self, start: int, stop: int) -> Batch:
        """Its rows at start <= position < stop, as views."""
        return Batch(self.keys[start:stop], self.rows.slice(start, stop - start), self.weights[start:stop])

    @staticmethod
    def empty(layout: Layout) -> Batch:
        return Batch(np.zeros(0, np.uint64), layout.nothing, np.zeros(0, np.int64))

    @staticmethod
    def build(layout: Layout, delta: ZSet, seed: int) -> Batch:
        """The delta, sorted and consolidated. O(n log n)."""
        if not len(delta):
            return Batch.empty(layout)
        if isinstance(delta, Grouped) and layout.order is None:
            by = tuple(range(delta.keys))
            if layout.placement == by and layout.identity == by:
                return _without_zeros(layout, Batch(delta.hashes, delta.rows, delta.weights))
        keys = layout.sort_keys(delta.rows, seed)
        return consolidated(layout, keys, delta.rows, delta.weights, presorted=False)

    @staticmethod
    def merge(layout: Layout, batches: list[Batch]) -> Batch:
        """The sum of sorted batches. O(n) comparisons for a fixed number of batches."""
        batches = [batch for batch in batches if len(batch)]
        return batches[0] if len(batches) == 1 else Batch.sum(layout, batches, presorted=True)

    @staticmethod
    def sum(layout: Layout, batches: list[Batch], presorted: bool = False) -> Batch:
        """The sum of batches whose rows may lie in any order; presorted: they don't. O(n log n)."""
        batches = [batch.whole for batch in batches if len(batch)]
        if not batches:
            return Batch.empty(layout)
        keys = np.concatenate([batch.keys for batch in batches])
        rows = concat(layout.schema, [batch.rows for batch in batches])
        weights = np.concatenate([batch.weights for batch in batches])
        return consolidated(layout, keys, rows, weights, presorted)

    def take(self, positions: np.ndarray) -> Batch:
        """The rows at ascending positions, none of them twice."""
        return Batch(self.keys[positions], take(self.rows, positions), self.weights[positions])

    def between(self, low: int, high: int) -> Batch:
        """The rows with low <= key < high, as views."""
        start = int(np.searchsorted(self.keys, np.uint64(low), "left")) if low > 0 else 0
        stop = int(np.searchsorted(self.keys, np.uint64(high), "left")) if high < 1 << 64 else len(self.keys)
        if start == 0 and stop == len(self.keys):
            return self
        return self.slice(start, stop)

    def of_partition(self, layout: Layout, low: int, high: int, seed: int) -> list[Batch]:
        """The rows whose placement hashes to low <= hash < high.

        In a timeline the partition's first and last slot may hold others' rows: they alone are hashed.
        """
        if not layout.timeline or (low <= 0 and high >= 1 << 64):
            return [self.between(low, high)]
        first, last = -(-low >> 56) << 56, high >> 56 << 56
        edges = [(low >> 56 << 56, first), (last, -(-high >> 56) << 56)]
        if first > last:  # the partition lies within one slot
            edges = [(last, first)]
        parts = [self.between(first, last)] if first < last else []
        for start, stop in edges:
            edge = self.between(start, stop) if start < stop else None
            if edge is not None and len(edge):
                hashes = hash_rows([edge.rows.column(i) for i in layout.placement], len(edge), seed)
                inside = np.flatnonzero((hashes >= np.uint64(low)) & (hashes <= np.uint64(high - 1)))
                parts.append(Batch(edge.keys[inside], take(edge.rows, inside), edge.weights[inside]))
        return parts

    def to_stored(self, layout: Layout) -> pa.RecordBatch:
        """One Arrow record batch of `layout.stored_schema`."""
        fields, keys = layout.stored_schema, from_fixed_values(self.keys, pa.uint64())
        rows = self.rows if self.rows.schema.equals(layout.schema) else concat(layout.schema, [self.rows])
        return rows.add_column(0, fields.field(0), keys).append_column(
            fields.field(len(fields) - 1), int64_array(self.weights)
        )

    @staticmethod
    def from_stored(stored: pa.RecordBatch, layout: Layout) -> Batch:
        """The inverse of `to_stored`, sharing its memory."""
        last = stored.num_columns - 1
        rows = stored.select(layout.stored_columns)
        return Batch(fixed_values(stored.column(0)), rows, fixed_values(stored.column(last)))


def plain_values(column: pa.Array) -> np.ndarray | None:
    """Its values, where they have a fixed width, fill whole bytes, and none is NULL."""
    fixed = is_fixed(column.type) and not pa.types.is_boolean(column.type) and not column.null_count
    return fixed_values(column) if fixed else None


def consolidated(
    layout: Layout, keys: np.ndarray, rows: pa.RecordBatch, weights: np.ndarray, presorted: bool
) -> Batch:
    """The batch of these rows. presorted: they are a few sorted runs.

    A column of the identity may have other values, equal where its own are.
    """
    if layout.bag:
        order = keys.argsort(kind="stable" if presorted else "quicksort")
        return Batch(keys[order], take(rows, order), weights[order])
    identity = [rows.column(i) for i in layout.identity]
    order, starts = group_rows(identity, keys, presorted)
    ordered = weights[order]
    if len(starts) == len(order):
        totals, first = ordered, order
        accumulators = {i: fixed_values(rows.column(i))[order] for i in _accumulators(layout)}
    else:
        totals, first = np.add.reduceat(ordered, starts), order[starts]
        accumulators = {
            i: f.reduceat(fixed_values(rows.column(i))[order], starts)
            for i, f in _accumulators(layout).items()
        }
    nonzero = totals != 0
    for i in layout.sums:
        nonzero |= accumulators[i] != 0
    if not every(nonzero):
        totals, first = totals[nonzero], first[nonzero]
        accumulators = {i: values[nonzero] for i, values in accumulators.items()}
    if not accumulators:
        return Batch(keys[first], take(rows, first), totals)
    kept = take(rows.select(list(layout.identity)), first) if layout.identity else None
    columns = iter(kept.columns if kept is not None else [])
    merged = [
        int64_array(accumulators[i]) if i in accumulators else next(columns)
        for i in range(len(layout.schema))
    ]
    return Batch(keys[first], pa.RecordBatch.from_arrays(merged, schema=rows.schema), totals)


def _without_zeros(layout: Layout, batch: Batch) -> Batch:
    """The rows that have a weight, or a sum."""
    nonzero = batch.weights != 0
    for i in layout.sums:
        nonzero |= fixed_values(batch.rows.column(i)) != 0
    return batch if every(nonzero) else batch.take(nonzero.nonzero()[0])


def _accumulators(layout: Layout) -> dict[int, np.ufunc]:
    return {
        **dict.fromkeys(layout.sums, np.add),
        **dict.fromkeys(layout.minima, np.minimum),
        **dict.fromkeys(layout.maxima, np.maximum),
    }
