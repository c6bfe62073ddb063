"""Defaults: what a row has in a column where it was given no value, such as the moment of its arrival.

    defaults(d) = map_f(d), f(x).c = x.c, or where that is NULL and the row is inserted, e(clock)

Linear; a step's clock is the same for all its rows.  State: none.  Cost: O(|d|).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression, columns_of
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.families import RowWise, Unchanged
from dbsp.circuits.operators.inputs.thresholds import reached
from dbsp.circuits.operators.operator import Context, Node, Standing, Value, delta_of
from dbsp.circuits.operators.shown import spelled
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import waterline_row
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Default:
    """column: its position. value: over the step clock as the only column, never NULL."""

    column: int
    value: Expression


@dataclass(frozen=True)
class Defaults(Unchanged, RowWise):
    """A retraction says all of its row, or by a key none; so it is left as it is."""

    defaults: tuple[Default, ...]

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        columns = delta.rows.columns
        now = waterline_row((CLOCK,), reached(context, ()))
        for default in self.defaults:
            given = columns[default.column]
            if given.null_count:
                absent = np.asarray(given.is_null()) & (delta.weights > 0)
                value = evaluate(default.value, now)[0]
                columns[default.column] = pc.if_else(pa.array(absent), value, given)
        return ZSet(pa.RecordBatch.from_arrays(columns, schema=delta.schema), delta.weights)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        for one in self.defaults:
            data_type = node.schema.field(one.column).type
            assert one.value.type == data_type, f"{where}: compares or gives other types"
            assert set(columns_of(one.value)) <= {0}, f"{where}: reads more than the clock"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return needed

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """A row keeps the value that it was given by the clock of its step."""
        return None

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        return ", ".join(
            f"{inputs[0][one.column]} = {spelled(one.value, ['now()'])}" for one in self.defaults
        )
