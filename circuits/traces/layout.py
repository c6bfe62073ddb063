"""Layouts: how a trace stores its rows, and the 64-bit *sort key* by which they are sorted.

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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import (
    empty,
    every,
    validity,
)
from dbsp.circuits.columns.hashing import hash_begun, hash_rows
from dbsp.circuits.columns.order_codes import order_code, order_steps
from dbsp.circuits.traces.zset import WEIGHT

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
