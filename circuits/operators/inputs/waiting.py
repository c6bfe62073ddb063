"""Rows that a watermark hasn't reached: they are received, and wait before any view sees them.

    Mₜ = the greatest value of column c in any row up to step t        w: the delay
    waiting(T)ₜ  = { x ∈ Tₜ : x.c > Mₜ − w }
    released(T)ₜ = Tₜ − waiting(T)ₜ = { x ∈ Tₜ : x.c is no number or time, or x.c <= Mₜ − w }

Both are linear in T, so a retraction goes where its row is. Mₜ − w never falls: what is released stays so.
Source: Feldera, "WATERMARK expressions".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import is_true
from dbsp.circuits.expressions.monotone import Bound, Bounds, least
from dbsp.circuits.operators.families import Keeper, RowWise, Unchanged
from dbsp.circuits.operators.inputs.thresholds import reached
from dbsp.circuits.operators.legal import lies_by, same_types
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Standing, Value, delta_of
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.waterline import Lateness
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun, batches_of
from dbsp.circuits.traces.timeline import due
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Waiting(Unchanged, Keeper):
    """Inputs: the table's rows, placed by columns `placed_by`; then what `Proved` says of the watermark.

    watermark: whose amount is the delay, so that it is the line up to which rows are released. At the end of
    input nothing waits any longer.  State: the rows that wait, in the order of the column.
    Cost: O(|d| + the rows that are released), amortised.
    """

    history: ClassVar[str] = "WATERMARK: which rows wait"

    placed_by: tuple[int, ...]
    watermark: Lateness

    is_trace: ClassVar[bool] = True

    def placement(self, *inputs: Placement) -> Placement:
        return self.placed_by

    def layout(self, *inputs: pa.Schema) -> Layout:
        return Layout(inputs[0], self.placed_by, order=self.watermark.column, timeline=True)

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Integral:
        name, delta = self.watermark.name, delta_of(inputs[0])
        if context.ending:
            everything = Batch.merge(layout, batches_of(before))
            self._pass(context, [delta.rows, everything.rows])
            return Integral(layout, before, -everything)
        earlier, now = context.waterlines.get(name), reached(context, inputs[1:]).get(name)
        waits = delta.take(np.flatnonzero(_beyond(delta.rows.column(self.watermark.column), now)))
        released = due(layout, before, earlier, now, at_once=True)
        change = ZSet.sum(layout.schema, [waits, *(-rows for rows in released)])
        return Integral(layout, before, Batch.build(layout, change, context.seed))

    def _pass(self, context: Context, parts: Sequence[pa.RecordBatch]) -> None:
        """Have the watermark pass all of these, so that what is taken back later is looked for with them."""
        for rows in parts:
            column = rows.column(self.watermark.column)
            greatest = pc.max(column.filter(pa.array(_times(column))))
            if greatest.is_valid:
                context.report(self.watermark.name, greatest)

    @property
    def cost(self) -> str:
        return "linear"

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        lies_by(inputs[0], self.placed_by, where)
        of = node.schema.field(self.watermark.column).type
        assert of == self.watermark.type, f"{where}: the watermark is of another type"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A row that comes is beyond the line, and one that goes was beyond it as of the step before."""
        return {self.watermark.column: (waterlines[self.watermark.name],)}

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Rows that wait are rows of the table."""
        return inputs[0]

    def own_bound(self) -> str | None:
        return "the watermark, which its rows are ahead of"

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """A watermark rises with input alone."""
        return None

    def waiting(self, node: int, inputs: Sequence[int]) -> Sequence[int]:
        return (node,)

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """Rows go when they are released."""
        return True

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        return f"by {listed(inputs[0], self.placed_by)} until {self.watermark.name} passes"


@dataclass(frozen=True)
class Released(Unchanged, RowWise):
    """released(T) = T − waiting(T), consolidated: what waits leaves no trace in what is computed above.

    Inputs: the table's rows, and the Waiting node of it.
    """

    watermark: Lateness

    def step(self, context: Context, *inputs: Value) -> ZSet:
        received, waiting = map(delta_of, inputs)
        return (received - waiting).consolidate(context.seed) if len(waiting) else received

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        same_types(node, inputs, where)
        assert inputs[0].placement == inputs[1].placement, f"{where}: inputs lie differently"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A row comes at once, within the table's bound, or has waited, and was beyond the line until now.

        Of its other columns nothing is known: it may have waited for long.
        """
        column, line = self.watermark.column, waterlines[self.watermark.name]
        waited: Bound = (line,)
        return {column: least(inputs[0][column], waited)} if column in inputs[0] else {}

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """Rows that wait are rows of the table, by which they come."""
        return inputs[0]


def _times(column: pa.Array) -> np.ndarray:
    """bool[n]: where there is a value that may wait; NaN says no time, as NULL doesn't."""
    there = is_true(pc.is_valid(column))
    return there & ~is_true(pc.is_nan(column)) if pt.is_floating(column.type) else there


def _beyond(column: pa.Array, line: pa.Scalar | None) -> np.ndarray:
    """bool[n]: value > line; any is while the line is unset."""
    return _times(column) if line is None else _times(column) & is_true(pc.greater(column, line))
