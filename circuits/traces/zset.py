"""Z-sets: rows with integer weights, an abelian group under pointwise addition.

    (a + b)[x] = a[x] + b[x]        (−a)[x] = −a[x]        0[x] = 0

DBSP, PVLDB 16(7), §4.1. A Z-set in flight may list a row several times; `consolidate` gives the one
listing in which every row is there once and no weight is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, empty, int64_array, take
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows

WEIGHT = "__weight"


@dataclass(frozen=True, eq=False)
class ZSet:
    """rows: n rows of any schema with at least one column; weights: int64[n]."""

    rows: pa.RecordBatch
    weights: np.ndarray

    @staticmethod
    def empty(schema: pa.Schema) -> ZSet:
        return ZSet(empty(schema), np.zeros(0, dtype=np.int64))

    @staticmethod
    def sum(schema: pa.Schema, parts: list[ZSet]) -> ZSet:
        """The sum of any number of Z-sets, not consolidated."""
        parts = [part for part in parts if len(part)]
        if not parts:
            return ZSet.empty(schema)
        if len(parts) == 1:
            return parts[0]
        return ZSet(concat(schema, [p.rows for p in parts]), np.concatenate([p.weights for p in parts]))

    @property
    def schema(self) -> pa.Schema:
        return self.rows.schema

    def __len__(self) -> int:
        return len(self.weights)

    def __add__(self, other: ZSet) -> ZSet:
        return ZSet.sum(self.schema, [self, other])

    def __neg__(self) -> ZSet:
        return ZSet(self.rows, -self.weights)

    def __sub__(self, other: ZSet) -> ZSet:
        return self + -other

    def __eq__(self, other: object) -> bool:
        """Equality of functions from rows to weights, however they are listed."""
        return isinstance(other, ZSet) and not len((self - other).consolidate())

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_empty(self) -> bool:
        return not len(self.consolidate())

    def column(self, i: int) -> pa.Array:
        """Of the rows."""
        return self.rows.column(i)

    def under(self, schema: pa.Schema) -> ZSet:
        """The same rows, whose columns have these names and are as nullable as this says."""
        return ZSet(pa.RecordBatch.from_arrays(self.rows.columns, schema=schema), self.weights)

    def take(self, indices: np.ndarray) -> ZSet:
        return ZSet(take(self.rows, indices), self.weights[indices])

    def consolidate(self, seed: int = 0) -> ZSet:
        """Every row once, no zero weight. O(n log n)."""
        if len(self) < 2:  # as of a lookup, whose row is compared with no other
            return self if self.weights.all() else self.take(np.empty(0, np.int64))
        columns = self.rows.columns
        order, starts = group_rows(columns, hash_rows(columns, len(self), seed))
        weights = np.add.reduceat(self.weights[order], starts)
        kept = weights.nonzero()[0]
        return ZSet(take(self.rows, order[starts[kept]]), weights[kept])

    def to_batch(self) -> pa.RecordBatch:
        """The rows with their weights as a last column `__weight`."""
        return self.rows.append_column(
            pa.field(WEIGHT, pa.int64(), nullable=False), int64_array(self.weights)
        )

    @staticmethod
    def from_batch(batch: pa.RecordBatch) -> ZSet:
        """The inverse of `to_batch`."""
        last = batch.num_columns - 1
        return ZSet(batch.select(list(range(last))), batch.column(last).to_numpy())


@dataclass(frozen=True, eq=False)
class Grouped(ZSet):
    """One row for each value of its first `keys` columns, in the order of their hashes.

    hashes: uint64[n], `hash_rows` of these columns with the step's seed.
    """

    keys: int
    hashes: np.ndarray
