"""Ahead: the rows that the step clock has not passed, and so those that a condition on NOW() makes visible.

    ahead(I)ₜ = { x ∈ Iₜ : f(x) > g(clockₜ) }            f of the row, g monotone; >= where not `at_once`

    σ[f > g(now)](I) = ahead(I)              a row leaves when it is passed
    σ[f <= g(now)](I) = I − ahead(I)         a row enters when it is passed

    ahead^Δ(d)ₜ = { x ∈ d : f(x) > g(clockₜ) } − { x ∈ ahead(I)ₜ₋₁ : f(x) <= g(clockₜ) }

The clock never goes back, so that a row that was passed is needed no more: not to retract it either.
State: the rows ahead of the clock, in the order of f.  Cost: O(|d| + the rows that are passed), amortised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import validity
from dbsp.circuits.expressions.inverse import solved
from dbsp.circuits.expressions.monotone import Bound, Bounds
from dbsp.circuits.expressions.nodes import Expression, columns_of, substitute
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.clock.forecast import at_clock, first_passed
from dbsp.circuits.operators.families import Keeper, RowWise, Unchanged
from dbsp.circuits.operators.inputs.thresholds import reached
from dbsp.circuits.operators.legal import has_columns, lies_by, same_types
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Standing, Value, delta_of
from dbsp.circuits.operators.shown import listed, spelled
from dbsp.circuits.progress.bounds import Lines, union
from dbsp.circuits.progress.limits import waterline_row
from dbsp.circuits.progress.waterline import CLOCK, Waterlines
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.timeline import due, passed
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Ahead(Unchanged, Keeper):
    """Rows whose value is NULL are never in it.

    column: holds f. value: f over the other columns, of which `column` is one or not. clock: g over the
    clock alone; None: nothing is ever passed. at_once: a row that equals g is passed. silent: what is ahead
    is only looked up, by `TimedProjection`, so that nothing happens when it is passed.
    """

    history: ClassVar[str] = "NOW(): what the clock has passed"

    placed_by: tuple[int, ...]
    column: int
    clock: Expression | None
    at_once: bool
    value: Expression = field(repr=False)
    silent: bool = False

    def placement(self, *inputs: Placement) -> Placement:
        return self.placed_by

    def layout(self, *inputs: pa.Schema) -> Layout:
        return Layout(inputs[0], self.placed_by, order=self.column, timeline=True)

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Integral:
        earlier, now = self.reading(context.waterlines), self.reading(reached(context, ()))
        delta = delta_of(inputs[0])
        instants = delta.rows.column(self.column)
        ahead = delta.take(np.flatnonzero(validity(instants) & ~passed(instants, now, self.at_once)))
        gone = due(layout, before, earlier, now, self.at_once)
        change = ZSet.sum(layout.schema, [ahead, *(-rows for rows in gone)])
        return Integral(layout, before, Batch.build(layout, change, context.seed))

    def reading(self, waterlines: Waterlines) -> pa.Scalar | None:
        """g of the clock; None before the first step. Raises EvaluationError."""
        if self.clock is None or CLOCK.name not in waterlines:
            return None
        return evaluate(self.clock, waterline_row((CLOCK,), waterlines))[0]

    @property
    def cost(self) -> str:
        return "linear"

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        data_type = node.schema.field(self.column).type
        assert self.value.type == data_type, f"{where}: compares or gives other types"
        if self.clock is not None:
            assert self.clock.type == data_type, f"{where}: compares or gives other types"
            assert set(columns_of(self.clock)) <= {0}, f"{where}: reads more than the clock"
        has_columns(self.value, inputs[0], where)
        lies_by(inputs[0], self.placed_by, where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A row that comes is ahead of the clock, and one that goes was ahead of it as of the step before.

        So its value is at least the clock's reading, and what the value is made of follows; of the other
        columns nothing does, since a row goes at any age.
        """
        if self.clock is None:
            return {}
        bound: Bound = (substitute(self.clock, lambda _: waterlines[CLOCK.name]),)
        solution = solved(self.value, bound)
        return {self.column: bound, **({} if solution is None else {solution[0]: solution[1]})}

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        return inputs[0] if self.clock is None else ("the clock",)

    def own_bound(self) -> str | None:
        return None if self.clock is None else "the clock, which its rows are ahead of"

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """When the clock passes the first of its rows."""
        waits = self.clock is not None and not self.silent
        return first_passed(own(), self._read, self.at_once, now) if waits else None

    def _read(self, clock: int) -> pa.Scalar | None:
        return self.reading(at_clock(clock))

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """Rows go when the clock has passed them."""
        return self.clock is not None or any(inputs)

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        value, by = spelled(self.value, inputs[0]), f"by {listed(inputs[0], self.placed_by)}"
        if self.clock is None:
            return f"{by} {value}, all of them"
        return f"{by} {value} ahead of {spelled(self.clock, ['now()'])}"


@dataclass(frozen=True)
class Difference(Unchanged, RowWise):
    """difference(a, b) = a − b, consolidated: what is in both leaves no trace in what is computed above."""

    history: ClassVar[str] = "NOW(): what the clock has passed"

    def step(self, context: Context, *inputs: Value) -> ZSet:
        a, b = map(delta_of, inputs)
        return (a - b).consolidate(context.seed) if len(b) else a

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        same_types(node, inputs, where)
        assert len({child.placement for child in inputs}) == 1, f"{where}: inputs lie differently"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A row of the output is one of either delta."""
        return union(inputs)

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """b are rows of a, by which they come; what leaves b alone enters."""
        return inputs[0]
