"""Lowering of temporal filters: one `Ahead` a bound.

    rows ─► with every f ─► those that entered (I − ahead) ─► those that haven't left (ahead) ─► without f

Rows enter first, so that one which is to come into view waits in one trace. Where conditions or values
change in any other way, a `TimedProjection` looks up in timelines which rows do.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, remap
from dbsp.circuits.operators.clock.temporal_filter import Ahead, Difference
from dbsp.circuits.operators.clock.timed_projection import Crossing, TimedProjection
from dbsp.circuits.operators.linear import Filter
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.clock.readings import CLOCK_COLUMN
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, arrow_schema, columns_of_schema


def lower_temporal_filter(lowering: Lowering, plan: p.TemporalFilter) -> int:
    """The node of the visible rows."""
    add = lowering.builder.add
    columns = columns_of_schema(plan.schema)
    node, wide = _with_values(lowering, plan.input, [bound.value for bound in plan.bounds])
    for bound in sorted(plan.bounds, key=lambda bound: bound.leaves):
        column = bound.value.index if isinstance(bound.value, Column) else wide.index(bound.value)
        if bound.value.nullable and not bound.leaves:
            held = Column(column, bound.value.type, True)
            node = add(Filter(Call("is_not_null", (held,), pa.bool_(), False)), node)
        node = lowering.builder.placed(node, tuple(range(len(wide))), within=True)
        placed_by = lowering.builder.placement(node)
        ahead = add(Ahead(placed_by, column, bound.clock, bound.at_once, bound.value), node)
        node = ahead if bound.leaves else add(Difference(), node, ahead)
    return lowering.map(node, columns, plan.schema)


def lower_timed_projection(lowering: Lowering, plan: p.TimedProjection) -> int:
    """The node of the rows in their phases."""
    add, builder = lowering.builder.add, lowering.builder
    node, wide = _with_values(lowering, plan.input, [crossing.value for crossing in plan.changes.crossings])
    node = builder.placed(node, tuple(range(len(wide))), within=True)
    by = builder.placement(node)
    crossings, traces = [], []
    for c in plan.changes.crossings:
        column = c.value.index if isinstance(c.value, Column) else wide.index(c.value)
        at_once = c.at_once and not c.turns
        traces.append(add(Ahead(by, column, c.low, at_once, c.value, silent=c.turns), node))
        crossings.append(Crossing(column, c.clock, c.at_once, c.turns))
    if plan.changes.readings:
        traces.append(add(Integrate(by), node))
    width = len(plan.input.schema)
    position = {i: i for i in range(width)} | {CLOCK_COLUMN: len(wide)}
    made = plan.schema[width:]
    output = pa.schema([*builder.nodes[node].schema, *arrow_schema(made)])
    operator = TimedProjection(
        tuple(crossings),
        plan.changes.readings,
        tuple(remap(e, position) for e in plan.expressions),
        None if plan.condition is None else remap(plan.condition, position),
        tuple(i for i, crossing in enumerate(plan.changes.crossings) if crossing in plan.changes.ahead),
        plan.changes.restless,
        output,
    )
    phased = add(operator, node, *traces)
    computed = (Column(len(wide) + i, f.type, f.nullable) for i, f in enumerate(made))
    return lowering.map(phased, (*columns_of_schema(plan.input.schema), *computed), plan.schema)


def _with_values(
    lowering: Lowering, plan: Plan, values: Sequence[Expression]
) -> tuple[int, tuple[Expression, ...]]:
    """(the node of the plan's rows, followed by the values that are none of its columns; its columns)."""
    lowering.watch_clock()
    columns = columns_of_schema(plan.schema)
    computed = dict.fromkeys(value for value in values if not isinstance(value, Column))
    wide: tuple[Expression, ...] = (*columns, *computed)
    made = (Field(f"__at{i}", e.type, e.nullable) for i, e in enumerate(computed))
    return lowering.map(lowering.plan(plan), wide, (*plan.schema, *made)), wide
