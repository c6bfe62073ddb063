"""When rows arrived, as a last column: the clock of the step that they came in.

    timed^Δ(d) = { (x, clock) : x of d }

The clock is recorded and never goes back, so that a row keeps its time, and none comes with an earlier one.
State: none.  Cost: O(|d|).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import RowWise
from dbsp.circuits.operators.inputs.thresholds import reached
from dbsp.circuits.operators.operator import Context, Node, Placement, Standing, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.traces.zset import ZSet

ROWTIME = "rowtime"


@dataclass(frozen=True)
class ArrivalTime(RowWise):
    """Of rows that are never taken back: a retraction couldn't say when its row came. column: its place."""

    history: ClassVar[str] = "the times at which rows arrived"

    column: int

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0].append(pa.field(ROWTIME, CLOCK.type, nullable=False))

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[0]

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        schema = self.schema(delta.schema)
        if not len(delta):
            return ZSet.empty(schema)
        times = pa.repeat(reached(context, ())[CLOCK.name], len(delta))
        return ZSet(pa.RecordBatch.from_arrays([*delta.rows.columns, times], schema=schema), delta.weights)

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """A row keeps the clock that it came with."""
        return None

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        assert self.column == len(inputs[0].schema), f"{where}: the time is not behind the other columns"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A row of a later step has that step's clock, which isn't before this one's."""
        return {**inputs[0], self.column: (waterlines[CLOCK.name],)}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < self.column else None

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return needed - {self.column}
