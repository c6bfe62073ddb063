"""Defaults: what a row has in a column where it was given no value, such as the moment of its arrival.

    defaults(d) = map_f(d), f(x).c = x.c, or where that is NULL and x is inserted, e(clock, arrival of x)

Linear; a step's clock is the same for all its rows, and no two rows of a table arrive at the same place, by
which a number of their own is drawn. Both are recorded: a row keeps its value.  State: none.  Cost: O(|d|).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Column, Expression, columns_of
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.families import RowWise, Unchanged
from dbsp.circuits.operators.inputs.arrivals import arrivals
from dbsp.circuits.operators.inputs.thresholds import reached
from dbsp.circuits.operators.linear import SEQUENCE
from dbsp.circuits.operators.operator import Context, Node, Standing, Value, delta_of
from dbsp.circuits.operators.shown import spelled
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import waterline_row
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.traces.zset import ZSet

# beside the clock, what a DEFAULT may read: where the row is in what has arrived
ARRIVED = Column(1, pa.int64(), False)


@dataclass(frozen=True)
class Default:
    """column: its position. value: over the step clock and the row's arrival, never NULL."""

    column: int
    value: Expression

    @property
    def reads_clock(self) -> bool:
        return 0 in columns_of(self.value)

    @property
    def is_drawn(self) -> bool:
        """Whether it is another for each row."""
        return ARRIVED.index in columns_of(self.value)

    @property
    def is_constant(self) -> bool:
        return not any(True for _ in columns_of(self.value))


@dataclass(frozen=True)
class Defaults(Unchanged, RowWise):
    """A retraction says all of its row, or by a key none; so it is left as it is.

    Where a value is drawn, the input's last column is `__sequence`.
    """

    defaults: tuple[Default, ...]

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        columns = delta.rows.columns
        now = waterline_row((CLOCK,), reached(context, ()))
        for default in self.defaults:
            given = columns[default.column]
            if not given.null_count:
                continue
            absent = np.asarray(given.is_null()) & (delta.weights > 0)
            if default.is_drawn:
                rows = _arrived(now, columns[-1].filter(pa.array(absent)), context.step)
                columns[default.column] = pc.replace_with_mask(
                    given, pa.array(absent), evaluate(default.value, rows)
                )
            else:
                value = evaluate(default.value, now)[0]
                columns[default.column] = pc.if_else(pa.array(absent), value, given)
        return ZSet(pa.RecordBatch.from_arrays(columns, schema=delta.schema), delta.weights)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        for one in self.defaults:
            data_type = node.schema.field(one.column).type
            assert one.value.type == data_type, f"{where}: compares or gives other types"
            assert set(columns_of(one.value)) <= {0, ARRIVED.index}, f"{where}: reads more than the clock"
            if one.is_drawn:
                assert node.schema.names[-1] == SEQUENCE, f"{where}: rows without a place"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return needed

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """A row keeps the value that it was given by the clock of its step."""
        return None

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        return ", ".join(
            f"{inputs[0][one.column]} = {spelled(one.value, ['now()', 'arrival'])}" for one in self.defaults
        )


def _arrived(now: pa.RecordBatch, sequence: pa.Array, step: int) -> pa.RecordBatch:
    """The clock, and the arrival, of each row."""
    clock = now.column(0)[0] if now.num_columns else pa.scalar(None, CLOCK.type)
    columns = [pa.repeat(clock, len(sequence)), arrivals(sequence, step)]
    return pa.RecordBatch.from_arrays(columns, names=[CLOCK.name, "arrival"])
