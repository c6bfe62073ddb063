"""Combine: each group's rows as one row of accumulators, a homomorphism into ℤ × ℤᵐ.

    combine(d)[g] = Σ { d[x] · (1, a₁(x), …, aₘ(x)) : key(x) = g }

Linear, so that it can run before rows move and its results add up after: what an exchange carries is a
row a group, not a row a row.  State: none.  Cost: O(|d| log |d|).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, int64_array, take
from dbsp.circuits.columns.groups import groups_of
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import RowWise
from dbsp.circuits.operators.groups.state.accumulators import Accumulator
from dbsp.circuits.operators.groups.state.members import Split
from dbsp.circuits.operators.operator import Context, Node, Placement, Value, delta_of
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.progress.bounds import Lines, of_columns_alone
from dbsp.circuits.traces.zset import Grouped, ZSet


@dataclass(frozen=True)
class _Grouped(RowWise):
    """Output: the first `keys` columns of the input, then what is combined."""

    keys: int

    def placement(self, *inputs: Placement) -> Placement:
        return keep_keys(inputs[0], self.keys)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        assert self.keys <= len(inputs[0].schema), f"{where}: too many keys"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Group keys are columns of the input; accumulators mix rows of any age."""
        return of_columns_alone(inputs[0], range(self.keys))

    def rows_a_value(self, width: int) -> tuple[tuple[int, ...], str]:
        return tuple(range(self.keys)), "being one row"

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < self.keys else None


@dataclass(frozen=True)
class Combine(_Grouped):
    """Its columns: the accumulators; one row a group."""

    accumulators: tuple[Accumulator, ...]

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        accumulators = [pa.field(f"a{i}", pa.int64(), nullable=False) for i in range(len(self.accumulators))]
        return pa.schema([*(inputs[0].field(i) for i in range(self.keys)), *accumulators])

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        schema = self.schema(delta.schema)
        if not len(delta):
            return ZSet.empty(schema)
        groups = groups_of(delta.rows, range(self.keys), context.seed)
        added = (
            int64_array(groups.total(a.of_rows(delta.rows, delta.weights), a.add)) for a in self.accumulators
        )
        rows = pa.RecordBatch.from_arrays([*groups.keys, *added], schema=schema)
        return Grouped(rows, groups.total(delta.weights), self.keys, groups.hashes)

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        parts = (f"{a.word}({inputs[0][a.column]})" for a in self.accumulators)
        return f"by {listed(inputs[0], range(self.keys))} {' '.join(parts)}".rstrip()


@dataclass(frozen=True)
class CombineParts(_Grouped):
    """Its columns: index columns of the split, amount; one row a part, of the columns after the keys."""

    split: Split

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        keys = [inputs[0].field(i) for i in range(self.keys)]
        parts = [pa.field(name, pa.int64(), nullable=False) for name in (*self.split.index, "amount")]
        return pa.schema([*keys, *parts])

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        schema = self.schema(delta.schema)
        row, index, amount = self.split.split(delta.rows.columns[self.keys :])
        weights = delta.weights[row]
        keys = take(delta.rows.select(list(range(self.keys))), row).columns if self.keys else []
        columns = [*keys, *map(pa.array, index), pa.array(amount * weights)]
        parts = ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), weights)
        if not len(parts):
            return parts
        identity = len(schema) - 1
        groups = groups_of(parts.rows, range(identity), context.seed)
        sums = groups.total(fixed_values(parts.rows.column(identity)))
        combined = pa.RecordBatch.from_arrays([*groups.keys, pa.array(sums)], schema=schema)
        return Grouped(combined, groups.total(weights), identity, groups.hashes)


def keep_keys(placement: Placement, keys: int) -> Placement:
    """A placement by key columns only survives grouping by the first `keys` columns."""
    return placement if placement is not None and all(i < keys for i in placement) else None
