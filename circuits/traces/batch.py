"""Batches: immutable sorted runs of a trace.

Rows are sorted by one 64-bit *sort key*:

    high half: hash of the layout's placement columns    decides the partition, finds all rows of a key
    low half:  hash of the identity columns, or an order-preserving code of one column

A *timeline* has its rows in the order of one column first, whatever their key, so that those that come due
are found without a look at any other. Its sort key is

    8 bits: the *slot*, of the placement columns' hash      56 bits: an order-preserving code of the column

Rows with the same identity are one row: their weights add up, and so do their accumulators (an
accumulated trace is a Z-set with weights in ℤ × ℤᵐ instead of ℤ: still an abelian group, which is all
that integration needs). Minima and maxima are accumulators too where nothing is ever retracted.

A *bag* lists a row as often as it came, its weights unadded: the same Z-set, for readers that add up pairs
or rows anyway. Where nothing is ever retracted nothing cancels, so it costs neither the hash of whole rows
nor a comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import (
    concat,
    empty,
    every,
    fixed_values,
    from_fixed_values,
    int64_array,
    is_fixed,
    positions_of,
    take,
    take_values,
    validity,
)
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_begun, hash_rows
from dbsp.circuits.columns.narrow.column import Codes, Narrow
from dbsp.circuits.columns.order_codes import order_code, order_steps
from dbsp.circuits.traces.zset import WEIGHT, Grouped, ZSet

KEY = "__key"
# arrays without dimensions, as in `columns/hashing.py`
HIGH = np.array(0xFFFFFFFF00000000, np.uint64)
LOW = np.array(0x00000000FFFFFFFF, np.uint64)
SLOT = np.array(0xFF << 56, np.uint64)
SLOTS = 256
_HALF = np.array(32, np.uint64)
# to search for so many keys costs less than to look whether they are different
_FEW = 512


@dataclass(frozen=True)
class Layout:
    """How a trace stores its rows.

    placement: columns hashed into the high half. order: the column coded into the low half, or None for
    the identity's hash; a NULL's code is the least, or the greatest if `nulls_greatest`. sums, minima,
    maxima: int64 accumulator columns; all others are the identity. timeline: ordered by the column `order`
    (no NULLs) before all else. bag: no rows are one; the low half is 0, unless `order` says otherwise.
    """

    schema: pa.Schema
    placement: tuple[int, ...]
    order: int | None = None
    sums: tuple[int, ...] = ()
    minima: tuple[int, ...] = ()
    maxima: tuple[int, ...] = ()
    nulls_greatest: bool = False
    timeline: bool = False
    bag: bool = False

    @cached_property
    def identity(self) -> tuple[int, ...]:
        accumulators = {*self.sums, *self.minima, *self.maxima}
        return tuple(i for i in range(len(self.schema)) if i not in accumulators)

    @cached_property
    def stored_schema(self) -> pa.Schema:
        """The schema of a stored batch: sort key, rows, weight."""
        key = pa.field(KEY, pa.uint64(), nullable=False)
        return pa.schema([key, *self.schema, pa.field(WEIGHT, pa.int64(), nullable=False)])

    @cached_property
    def stored_columns(self) -> list[int]:
        """Where a stored batch has the columns of its rows."""
        return list(range(1, len(self.schema) + 1))

    @cached_property
    def nothing(self) -> pa.RecordBatch:
        """No rows."""
        return empty(self.schema)

    def sort_keys(self, rows: pa.RecordBatch, seed: int) -> np.ndarray:
        """uint64[n]. Cost: one hash of the placement and one of the identity columns."""
        if self.order is None:
            return self.hashed(rows.columns, rows.num_rows, seed)
        ordered, high = rows.column(self.order), self.placed(rows.columns, rows.num_rows, seed)
        if self.timeline:
            return np.asarray((high & SLOT) | order_steps(ordered))
        code = order_code(ordered)
        if ordered.null_count:
            code = np.where(validity(ordered), code, np.uint32(LOW if self.nulls_greatest else 0))
        return with_low(high, code.astype(np.uint64))

    def hashed(self, columns: Sequence[pa.Array], count: int, seed: int) -> np.ndarray:
        """uint64[count]: the sort keys, without `order`, of rows that begin with these columns."""
        if self.bag:
            return self.placed(columns, count, seed) & HIGH
        if self.placement == self.identity:
            return self.placed(columns, count, seed)
        identity, first = [columns[i] for i in self.identity], len(self.placement)
        if first and self.placement == self.identity[:first]:
            high, low = hash_begun(identity, first, count, seed)
        else:
            high, low = self.placed(columns, count, seed), hash_rows(identity, count, seed)
        return with_low(high, low >> _HALF)

    def placed(self, columns: Sequence[pa.Array], count: int, seed: int) -> np.ndarray:
        """uint64[count]: sort keys of which only the high half means something."""
        return hash_rows([columns[i] for i in self.placement], count, seed)


def with_low(keys: np.ndarray, low: np.ndarray) -> np.ndarray:
    """uint64[n]: the high half of sort keys, and that low half."""
    return np.asarray((keys & HIGH) | low)


def of_placement(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """uint64[n] each: the least and the greatest sort key with the high half of these."""
    return keys & HIGH, keys | LOW


def placements(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """(places, owner): the high halves of sort keys, those side by side once, and which of them is key i's;
    None: the one at i. Many rows of a step may have one key, which is searched for once.
    """
    places = keys & HIGH
    if len(keys) < _FEW:
        return places, None
    opens = np.empty(len(places), dtype=np.bool_)
    opens[:1] = True
    np.not_equal(places[1:], places[:-1], out=opens[1:])
    if every(opens):
        return places, None
    return places[opens], opens.cumsum() - 1


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
        if not batches:
            return Batch.empty(layout)
        if len(batches) == 1:
            return batches[0]
        batches = [batch.whole for batch in batches]
        keys = np.concatenate([batch.keys for batch in batches])
        rows = concat(layout.schema, [batch.rows for batch in batches])
        weights = np.concatenate([batch.weights for batch in batches])
        return consolidated(layout, keys, rows, weights, presorted=True)

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


class StoredBatch(Batch):
    """A batch that is read when somebody first looks into it. Its length and ends are known before.

    first, last: its least and its greatest sort key. read: the batch itself. So a trace that a step has no
    key for is never verified, nor paged in.
    """

    def __init__(self, rows: int, first: int, last: int, read: Callable[[], Batch]) -> None:
        self.__dict__.update(_rows=rows, _read=read, first=first, last=last)

    def __len__(self) -> int:
        return int(self.__dict__["_rows"])

    @cached_property
    def _batch(self) -> Batch:
        return self.__dict__["_read"]()  # type: ignore[no-any-return]

    @cached_property
    def keys(self) -> np.ndarray:
        return self._batch.keys

    @property
    def rows(self) -> pa.RecordBatch:
        return self._batch.rows

    @property
    def weights(self) -> np.ndarray:
        return self._batch.weights

    @property
    def is_narrow(self) -> bool:
        return self._batch.is_narrow

    @property
    def whole(self) -> Batch:
        return self._batch.whole

    @property
    def schema(self) -> pa.Schema:
        return self._batch.schema

    def column(self, i: int) -> pa.Array:
        return self._batch.column(i)

    def stored_column(self, i: int) -> pa.Array | Narrow:
        return self._batch.stored_column(i)

    def rows_of(self, columns: Set[int]) -> pa.RecordBatch:
        return self._batch.rows_of(columns)

    def column_at(self, i: int, positions: np.ndarray) -> pa.Array:
        return self._batch.column_at(i, positions)

    def coded(self, i: int) -> Codes | None:
        return self._batch.coded(i)

    def weights_at(self, positions: np.ndarray) -> np.ndarray:
        return self._batch.weights_at(positions)

    def slice(self, start: int, stop: int) -> Batch:
        return self._batch.slice(start, stop)

    def take(self, positions: np.ndarray) -> Batch:
        return self._batch.take(positions)


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
