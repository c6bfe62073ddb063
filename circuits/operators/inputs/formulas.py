"""Formulas: columns of a table that are computed of its others.

    formulas(d) = map_f(d), f(x).c = e(x)

Linear, and of each row by itself.  State: none.  Cost: O(|d|).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import spread, take
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import columns_of
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.families import RowWise, Unchanged
from dbsp.circuits.operators.inputs.rules import Formula
from dbsp.circuits.operators.legal import has_columns
from dbsp.circuits.operators.linear import only_column
from dbsp.circuits.operators.operator import Context, Node, Value, delta_of
from dbsp.circuits.operators.shown import spelled
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Formulas(Unchanged, RowWise):
    """by_key: rows go by their key, which says nothing of what is computed: such a row is left as it is."""

    formulas: tuple[Formula, ...]
    by_key: bool = False

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        return self.filled(delta) if len(delta) else delta

    def filled(self, delta: ZSet) -> ZSet:
        """Of a change, without the rest of its step."""
        columns = list(delta.rows.columns)
        come = np.flatnonzero(delta.weights > 0) if self.by_key else np.arange(len(delta))
        rows = take(delta.rows, come) if len(come) < len(delta) else delta.rows
        for one in self.formulas:
            columns[one.column] = spread(evaluate(one.value, rows), come, len(delta))
        return ZSet(pa.RecordBatch.from_arrays(columns, schema=delta.schema), delta.weights)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        computed = {one.column for one in self.formulas}
        for one in self.formulas:
            has_columns(one.value, inputs[0], where)
            assert one.value.type == node.schema.field(one.column).type, f"{where}: computes another type"
            assert computed.isdisjoint(columns_of(one.value)), f"{where}: computed of what is computed"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Where rows come in nothing is known of them."""
        return {}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        value = next((one.value for one in self.formulas if one.column == column), None)
        source = column if value is None else only_column(value)
        return None if source is None else (0, source)

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        computed = {one.column for one in self.formulas}
        return {*(needed - computed), *(i for one in self.formulas for i in columns_of(one.value))}

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        return ", ".join(
            f"{inputs[0][one.column]} = {spelled(one.value, inputs[0])}" for one in self.formulas
        )
