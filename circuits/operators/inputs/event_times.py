"""What raises a percentile waterline: the table's event times in order of arrival (step, then sequence).

Rows of a step may be spread over tasks, each of which knows neither what came before its rows nor how many
event times that was. So the event times, two columns, move to one task (an `Exchange` between `EventTimes`
and `LastEventTimes`), which puts them in order.

State: the last n event times of a column (`percentile.Recent`).  Cost: O((n + |d|) log (n + |d|)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Changes
from dbsp.circuits.operators.inputs.late import rejected
from dbsp.circuits.operators.linear import SEQUENCE
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.percentile import Recent
from dbsp.circuits.progress.waterline import Lateness
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class EventTimes(Changes):
    """(value as measured, sequence) of the rows that have an event time and don't jump ahead.

    The input's last column are sequence numbers. lateness: all of the relation's; the one at `of` is meant.
    """

    history: ClassVar[str] = "LATENESS: the event times as they came"

    lateness: tuple[Lateness, ...]
    of: int

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return pa.schema([("value", self.lateness[self.of].type), (SEQUENCE, pa.int64())])

    def placement(self, *inputs: Placement) -> Placement:
        return None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        rows = delta_of(inputs[0]).rows
        values, sequence = rows.column(self.lateness[self.of].column), rows.column(rows.num_columns - 1)
        there = pc.is_valid(values)
        if pt.is_floating(values.type):
            there = pc.and_kleene(there, pc.invert(pc.is_nan(values)))
        _, jumping = rejected(self.lateness, rows, context)
        if jumping.any():
            there = pc.and_kleene(there, pa.array(~jumping))
        values = self.lateness[self.of].measured(values)
        batch = pa.RecordBatch.from_arrays([values, sequence], schema=self.schema())
        batch = batch.filter(there)
        return ZSet(batch, np.ones(batch.num_rows, dtype=np.int64))

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        one = self.lateness[self.of]
        return (0, one.column) if column == 0 and not one.decreasing else None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """It has event times that come, and takes none back."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return False


@dataclass(frozen=True)
class LastEventTimes(Changes):
    """Puts the step's event times after those before; reports the candidate, which is all that comes out."""

    history: ClassVar[str] = "LATENESS: the event times as they came"

    lateness: Lateness

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return pa.schema([pa.field(self.lateness.name, self.lateness.type)])

    def placement(self, *inputs: Placement) -> Placement:
        return None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        rows = delta_of(inputs[0]).rows
        percentile, name = self.lateness.percentile, self.lateness.name
        assert percentile is not None
        if rows.num_rows:
            arrived = rows.column(0).take(pc.sort_indices(rows.column(1)))
            before = context.recent.get(name) or Recent.empty(percentile, arrived.type)
            context.risen[name], candidate = before.after(arrived, percentile)
            if candidate is not None:
                context.report(name, candidate)
                row = pa.RecordBatch.from_arrays([pa.array([candidate])], schema=self.schema())
                return ZSet(row, np.ones(1, dtype=np.int64))
        return ZSet.empty(self.schema())

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """It has candidates that come, and takes none back."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return False
