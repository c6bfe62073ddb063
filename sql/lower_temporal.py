"""Lowering of temporal filters: one `Ahead` a bound.

    rows ─► with every f ─► those that entered (I − ahead) ─► those that haven't left (ahead) ─► without f

Rows enter first, so that one which is to come into view waits in one trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from circuits.expressions.nodes import Call, Column, Expression
from circuits.operators.ahead import Ahead, Difference
from circuits.operators.linear import Filter
from sql import plan as p

if TYPE_CHECKING:
    from sql.lower import Lowering


def lower_temporal(lowering: Lowering, plan: p.TemporalFilter) -> int:
    """The node of the visible rows."""
    add = lowering.builder.add
    lowering.watch_clock()
    columns = p.columns_of_schema(plan.schema)
    computed = [b.value for b in plan.bounds if not isinstance(b.value, Column)]
    wide: tuple[Expression, ...] = (*columns, *dict.fromkeys(computed))
    made = (p.Field(f"__at{i}", e.type, e.nullable) for i, e in enumerate(wide[len(columns) :]))
    node = lowering.map(lowering.plan(plan.input), wide, (*plan.schema, *made))
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
