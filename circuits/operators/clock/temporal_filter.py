"""Ahead: the rows that the step clock has not passed, and so those that a condition on NOW() makes visible.

    ahead(I)ₜ = { x ∈ Iₜ : f(x) > g(clockₜ) }            f of the row, g monotone; >= where not `at_once`

    σ[f > g(now)](I) = ahead(I)              a row leaves when it is passed
    σ[f <= g(now)](I) = I − ahead(I)         a row enters when it is passed

    ahead^Δ(d)ₜ = { x ∈ d : f(x) > g(clockₜ) } − { x ∈ ahead(I)ₜ₋₁ : f(x) <= g(clockₜ) }

The clock never goes back, so that a row that was passed is needed no more: not to retract it either.
State: the rows ahead of the clock, in the order of f.  Cost: O(|d| + the rows that are passed), amortised.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import validity
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.inputs.thresholds import reached
from dbsp.circuits.operators.operator import Context, Operator, Placement, Value, delta_of
from dbsp.circuits.progress.limits import waterline_row
from dbsp.circuits.progress.waterline import CLOCK, Waterlines
from dbsp.circuits.traces.batch import Batch, Layout
from dbsp.circuits.traces.sorted_run import Stretch
from dbsp.circuits.traces.timeline import due, passed
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Ahead(Operator):
    """Rows whose value is NULL are never in it.

    column: holds f. value: f over the other columns, of which `column` is one or not. clock: g over the
    clock alone; None: nothing is ever passed. at_once: a row that equals g is passed. silent: what is ahead
    is only looked up, by `Phases`, so that nothing happens when it is passed.
    """

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
        self, context: Context, layout: Layout, before: tuple[Stretch, ...], *inputs: Value
    ) -> Integral:
        earlier, now = self.reading(context.waterlines), self.reading(reached(context, ()))
        delta = delta_of(inputs[0])
        at = delta.rows.column(self.column)
        ahead = delta.take(np.flatnonzero(validity(at) & ~passed(at, now, self.at_once)))
        gone = due(layout, before, earlier, now, self.at_once)
        change = ZSet.sum(layout.schema, [ahead, *(-rows for rows in gone)])
        return Integral(layout, before, Batch.build(layout, change, context.seed))

    def reading(self, waterlines: Waterlines) -> pa.Scalar | None:
        """g of the clock; None before the first step. Raises EvaluationError."""
        if self.clock is None or CLOCK.name not in waterlines:
            return None
        return evaluate(self.clock, waterline_row((CLOCK,), waterlines))[0]


@dataclass(frozen=True)
class Difference(Operator):
    """difference(a, b) = a − b, consolidated: what is in both leaves no trace in what is computed above."""

    def step(self, context: Context, *inputs: Value) -> ZSet:
        a, b = map(delta_of, inputs)
        return (a - b).consolidate(context.seed) if len(b) else a
