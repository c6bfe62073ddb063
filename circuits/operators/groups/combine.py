"""Combine: each group's rows as one row of accumulators, a homomorphism into ℤ × ℤᵐ.

    combine(d)[g] = Σ { d[x] · (1, a₁(x), …, aₘ(x)) : key(x) = g }

Linear, so that it can run before rows move and its results add up after: what an exchange carries is a
row a group, not a row a row.  State: none.  Cost: O(|d| log |d|).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, take, validity
from dbsp.circuits.columns.exact_sums import split_decimal, split_doubles, split_int64
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.order_codes import order_bits
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import RowWise
from dbsp.circuits.operators.groups.aggregates.members import Split
from dbsp.circuits.operators.operator import Context, Node, Placement, Value, delta_of
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.traces.zset import ZSet

SUMS = ("count", "value", "limb0", "limb1", "limb2", "limb3")
_IDENTITY = {"min": np.iinfo(np.int64).max, "max": np.iinfo(np.int64).min}
_REDUCE = {"min": np.minimum, "max": np.maximum}


@dataclass(frozen=True)
class Accumulator:
    """One int64 per group, from column `column`; NULLs contribute nothing.

    kind: 'count' (values), 'value' (their sum, of at most 32 bits each), 'limb0' … 'limb3' (of the sum of
    64-bit integers or decimals), 'min', 'max' (order bits; only where nothing is retracted).
    """

    kind: str
    column: int

    def of(self, rows: pa.RecordBatch, weights: np.ndarray) -> np.ndarray:
        """int64[n]: what each row, times its weight, adds to its group."""
        array = rows.column(self.column)
        if self.kind == "count":
            return weights if not array.null_count else np.where(validity(array), weights, 0)
        if self.kind in _IDENTITY:
            values = order_bits(array)
            return np.where(validity(array), values, _IDENTITY[self.kind]) if array.null_count else values
        if self.kind == "value":
            values = fixed_values(array).astype(np.int64)
        else:
            part = int(self.kind[-1])
            is_decimal = pa.types.is_decimal(array.type)
            values = (split_decimal(array) if is_decimal else split_int64(fixed_values(array)))[part]
        product = values * weights
        return np.where(validity(array), product, 0) if array.null_count else product


@dataclass(frozen=True)
class Combine(RowWise):
    """Output: the first `keys` columns of the input, then the accumulators; one row a group."""

    keys: int
    accumulators: tuple[Accumulator, ...]

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        accumulators = [pa.field(f"a{i}", pa.int64(), nullable=False) for i in range(len(self.accumulators))]
        return pa.schema([*(inputs[0].field(i) for i in range(self.keys)), *accumulators])

    def placement(self, *inputs: Placement) -> Placement:
        return keep_keys(inputs[0], self.keys)

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        schema = self.schema(delta.schema)
        if not len(delta):
            return ZSet.empty(schema)
        order, starts, groups = _grouped(delta, self.keys, context.seed)
        sums = [_reduce(a.kind, a.of(delta.rows, delta.weights)[order], starts) for a in self.accumulators]
        columns = [*groups, *map(pa.array, sums)]
        weights = np.add.reduceat(delta.weights[order], starts)
        return ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), weights)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        assert self.keys <= len(inputs[0].schema), f"{where}: too many keys"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Group keys are columns of the input; accumulators mix rows of any age."""
        return {i: bound for i, bound in inputs[0].items() if i < self.keys}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < self.keys else None

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        parts = (f"{a.kind}({inputs[0][a.column]})" for a in self.accumulators)
        return f"by {listed(inputs[0], range(self.keys))} {' '.join(parts)}".rstrip()


@dataclass(frozen=True)
class Doubles(Split):
    """A double ↦ its limbs, up to three, so that a group's state is as wide as the range of its values."""

    index: ClassVar[tuple[str, ...]] = ("index",)

    def split(self, columns: list[pa.Array]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        (column,) = columns
        values = np.where(validity(column), fixed_values(column), 0.0).astype(np.float64)
        at, index, limb = split_doubles(values)
        return at, [index], limb


@dataclass(frozen=True)
class CombineParts(RowWise):
    """The columns after the keys, as parts that add up: rows (key, index columns of the split, amount)."""

    keys: int
    split: Split

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        keys = [inputs[0].field(i) for i in range(self.keys)]
        parts = [pa.field(name, pa.int64(), nullable=False) for name in (*self.split.index, "amount")]
        return pa.schema([*keys, *parts])

    def placement(self, *inputs: Placement) -> Placement:
        return keep_keys(inputs[0], self.keys)

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        schema = self.schema(delta.schema)
        at, index, amount = self.split.split(delta.rows.columns[self.keys :])
        weights = delta.weights[at]
        keys = take(delta.rows.select(list(range(self.keys))), at).columns if self.keys else []
        columns = [*keys, *map(pa.array, index), pa.array(amount * weights)]
        parts = ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), weights)
        if not len(parts):
            return parts
        order, starts, groups = _grouped(parts, len(schema) - 1, context.seed)
        sums = np.add.reduceat(fixed_values(parts.rows.column(len(schema) - 1))[order], starts)
        combined = pa.RecordBatch.from_arrays([*groups, pa.array(sums)], schema=schema)
        return ZSet(combined, np.add.reduceat(weights[order], starts))

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        assert self.keys <= len(inputs[0].schema), f"{where}: too many keys"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Group keys are columns of the input; accumulators mix rows of any age."""
        return {i: bound for i, bound in inputs[0].items() if i < self.keys}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < self.keys else None


def keep_keys(placement: Placement, keys: int) -> Placement:
    """A placement by key columns only survives grouping by the first `keys` columns."""
    return placement if placement is not None and all(i < keys for i in placement) else None


def _grouped(delta: ZSet, keys: int, seed: int) -> tuple[np.ndarray, np.ndarray, list[pa.Array]]:
    """(order, starts, key columns with one row a group) of a delta that isn't empty."""
    columns = [delta.rows.column(i) for i in range(keys)]
    order, starts = group_rows(columns, hash_rows(columns, len(delta), seed))
    groups = take(delta.rows.select(list(range(keys))), order[starts]).columns if keys else []
    return order, starts, groups


def _reduce(kind: str, values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return np.asarray(_REDUCE.get(kind, np.add).reduceat(values, starts))
