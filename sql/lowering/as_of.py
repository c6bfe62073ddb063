"""Lowering of as-of joins: both sides by key and in the order of their time."""

from __future__ import annotations

from dbsp.circuits.expressions.nodes import Column, Expression
from dbsp.circuits.operators.joins.as_of import AsOf
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.sides import Side, side_of, with_the_others
from dbsp.sql.plans import nodes as p


def lower_as_of(lowering: Lowering, plan: p.AsOf) -> int:
    """The node whose stream is the join's change."""
    left = side_of(lowering, plan.left, plan.left_keys, plan.null_safe, (plan.left_time,))
    right = side_of(lowering, plan.right, plan.right_keys, plan.null_safe, (plan.right_time,))
    outer = plan.kind == "left"
    grows = lowering.append_only(plan.right)
    (left_time,), (right_time,) = left.further, right.further
    operator = AsOf(left.key, right.key, left_time, right_time, plan.comparison, outer, grows)
    joined = lowering.builder.add(operator, _trace(lowering, left), _trace(lowering, right))
    own, width = len(plan.left.schema), len(left.fields)
    positions = [i if i < own else width + i - own for i in range(len(plan.schema))]
    columns: tuple[Expression, ...] = tuple(
        Column(i, f.type, f.nullable) for i, f in zip(positions, plan.schema, strict=True)
    )
    node = lowering.map(joined, columns, plan.schema)
    return with_the_others(lowering, node, left, positions, own, plan.schema) if outer else node


def _trace(lowering: Lowering, side: Side) -> int:
    (time,) = side.further
    placed = lowering.builder.placed(side.eligible, side.key)
    return lowering.builder.add(Integrate(side.key, order=time), placed)
