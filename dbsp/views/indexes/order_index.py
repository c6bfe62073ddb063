"""The rows of a view in an order that was asked for, which follows the view's chunks: pages are cut of it.

    index' = merge(index, d)      d = I(chunks') − I(chunks), consolidated: chunks that both have are not read

The first page sorts all rows. What later steps change is found a place for by a binary search that goes
through all changed rows at once, column by column; rows aren't moved for it, only their places are.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.sorting import pack, sort_keys, sort_words
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.plans.calls import SortOrder

Order = tuple[SortOrder, ...]
# indexes of one pipeline, and their rows
_KEPT, _ROWS = 16, 1 << 24
# of the rows: more changes than this share are sorted with all others
_SHARE = 8


@dataclass(frozen=True)
class Ordered:
    """Rows in order, each once. rows, later: what is there, in no order. places: int64[n], the first of
    `later` being len(rows). weights: int64[n], of the places.
    """

    rows: pa.RecordBatch
    later: pa.RecordBatch
    places: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def total(self) -> int:
        """How many rows there are, each as often as it is there."""
        return int(self.weights.sum())

    @cached_property
    def negative(self) -> int | None:
        """Where a row is that is there less than never."""
        found = np.flatnonzero(self.weights < 0)
        return int(found[0]) if len(found) else None

    @cached_property
    def _ends(self) -> np.ndarray | None:
        """int64[n]: how many rows there are up to each; None: each is there once."""
        return None if (self.weights == 1).all() else np.cumsum(np.maximum(self.weights, 0))

    def page(self, offset: int, count: int) -> ZSet:
        """The rows from the offset on, as often as they are on the page; or one that is less than never.

        Cost: O(log n + count).
        """
        if self.negative is not None:
            return self.between(self.negative, self.negative + 1)
        if self._ends is None:
            return self.between(min(offset, len(self)), min(offset + count, len(self)))
        first = int(np.searchsorted(self._ends, offset, "right"))
        stop = min(int(np.searchsorted(self._ends, offset + count, "left")) + 1, len(self))
        found = self.between(first, stop)
        ends = self._ends[first:stop]
        left = np.minimum(ends, offset + count) - np.maximum(ends - found.weights, offset)
        return ZSet(found.rows, left).take(np.flatnonzero(left > 0))

    def leading(self, count: int, order: Order) -> ZSet:
        """At least the first rows, and all that the order doesn't tell from the last of them."""
        stop = count if self._ends is None else int(np.searchsorted(self._ends, count, "left")) + 1
        if stop >= len(self):
            return self.between(0, len(self))
        last, more = self.at(np.array([stop - 1])), 64
        while stop < len(self):
            beyond = self.at(self.places_of(stop, stop + more))
            ties = _compared(beyond, last.take(np.zeros(beyond.num_rows, np.int64)), order, rows=False) == 0
            stop += int(ties.argmin()) if not ties.all() else beyond.num_rows
            if not ties.all():
                break
            more *= 4
        return self.between(0, stop)

    def between(self, first: int, stop: int) -> ZSet:
        """The rows at these places of the order, with their weights."""
        return ZSet(self.at(self.places_of(first, stop)), self.weights[first:stop])

    def places_of(self, first: int, stop: int) -> np.ndarray:
        return np.arange(first, min(stop, len(self)))

    def at(self, positions: np.ndarray) -> pa.RecordBatch:
        """The rows at positions in the order."""
        places = self.places[positions]
        is_later = places >= self.rows.num_rows
        if not is_later.any():
            return self.rows.take(pa.array(places))
        both = [
            self.rows.take(pa.array(places[~is_later])),
            self.later.take(pa.array(places[is_later] - self.rows.num_rows)),
        ]
        back = np.empty(len(places), np.int64)
        back[np.concatenate([np.flatnonzero(~is_later), np.flatnonzero(is_later)])] = np.arange(len(places))
        return pa.concat_batches(both).take(pa.array(back))

    def merged(self, delta: ZSet, order: Order) -> Ordered:
        """With what a consolidated delta adds. Cost: O(d log n) comparisons, and moving n places."""
        delta = delta.take(_sorted(delta.rows, order))
        low, high = np.zeros(len(delta), np.int64), np.full(len(delta), len(self))
        while (open_ := low < high).any():
            middle = (low + high)[open_] // 2
            is_less = _compared(self.at(middle), delta.rows.take(pa.array(np.flatnonzero(open_))), order) < 0
            low[open_] = np.where(is_less, middle + 1, low[open_])
            high[open_] = np.where(is_less, high[open_], middle)
        known = np.flatnonzero(low < len(self))
        known = known[_compared(self.at(low[known]), delta.rows.take(pa.array(known)), order) == 0]
        is_new = np.ones(len(delta), np.bool_)
        is_new[known] = False
        weights = self.weights.copy()
        weights[low[known]] += delta.weights[known]
        new = np.flatnonzero(is_new)
        begins = self.rows.num_rows + self.later.num_rows
        places = np.insert(self.places, low[new], begins + np.arange(len(new)))
        weights = np.insert(weights, low[new], delta.weights[new])
        kept = weights != 0
        later = pa.concat_batches([self.later, delta.rows.take(pa.array(new))])
        merged = Ordered(self.rows, later, places[kept], weights[kept])
        return merged.compact() if _SHARE * later.num_rows > self.rows.num_rows else merged

    def compact(self) -> Ordered:
        """The same, without rows that aren't there any more."""
        rows = self.at(np.arange(len(self)))
        return Ordered(rows, rows.slice(0, 0), np.arange(len(self)), self.weights)


def ordered(rows: ZSet, order: Order) -> Ordered:
    """Consolidated rows in an order, then in order of rows. Raises EvaluationError, as of ORDER BY 1 / x."""
    places = _sorted(rows.rows, order)
    return Ordered(rows.rows, rows.rows.slice(0, 0), places, rows.weights[places])


class OrderIndex:
    """Of one view and one order. Raises EvaluationError where a row has no value to be ordered by."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._parts: dict[Chunk, ZSet] = {}
        self._ordered: Ordered | None = None
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """How many rows it holds."""
        return 0 if self._ordered is None else len(self._ordered)

    def of(self, parts: Mapping[Chunk, ZSet]) -> Ordered:
        """The rows that the parts are the sum of, of which there is at least one."""
        with self._lock:
            gone = [-part for chunk, part in self._parts.items() if chunk not in parts]
            come = [part for chunk, part in parts.items() if chunk not in self._parts]
            if self._ordered is not None and not gone and not come:
                return self._ordered
            self._ordered, before = None, self._ordered  # whoever interrupts leaves neither
            schema = next(iter(parts.values())).schema
            if before is not None:
                delta = ZSet.sum(schema, [*gone, *come]).consolidate()
                if _SHARE * len(delta) <= len(before):
                    self._ordered = before.merged(delta, self._order)
            if self._ordered is None:
                self._ordered = ordered(ZSet.sum(schema, list(parts.values())).consolidate(), self._order)
            self._parts = dict(parts)
            return self._ordered


class OrderIndexes:
    """Of one pipeline's views: those that were asked for last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, Order], OrderIndex] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, view: str, order: Order) -> OrderIndex:
        with self._lock:
            found = self._kept.pop((view, order), None)
            if found is None:
                found = OrderIndex(order)
            while self._kept and (len(self._kept) >= _KEPT or self._rows > _ROWS):
                self._kept.popitem(last=False)
            self._kept[view, order] = found
            return found

    @property
    def _rows(self) -> int:
        return sum(index.size for index in self._kept.values())


def _sorted(rows: pa.RecordBatch, order: Order) -> np.ndarray:
    return sort_words(pack(_keys(rows, order, rows=True)), rows.num_rows)[0]


def _keys(batch: pa.RecordBatch, order: Order, rows: bool) -> list[np.ndarray]:
    keys = [
        key for by in order for key in sort_keys(evaluate(by.expression, batch), by.descending, by.nulls_last)
    ]
    return keys + [key for column in batch.columns for key in sort_keys(column, exact=True)] * rows


def _compared(left: pa.RecordBatch, right: pa.RecordBatch, order: Order, rows: bool = True) -> np.ndarray:
    """int8[n]: -1 where the left row comes first, 0 where neither does. rows: in the order of rows, too."""
    count = left.num_rows
    found = np.zeros(count, np.int8)
    both: Sequence[pa.RecordBatch] = [left, pa.RecordBatch.from_arrays(right.columns, schema=left.schema)]
    for key in _keys(pa.concat_batches(both), order, rows):
        sign = (key[:count] > key[count:]).astype(np.int8) - (key[:count] < key[count:])
        found = np.where(found == 0, sign, found)
    return found
