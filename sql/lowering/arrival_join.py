"""Lowering of joins on arrival: a stream's changes, and the trace of the table that they meet."""

from __future__ import annotations

from dbsp.circuits.expressions.nodes import Column, Expression, remap
from dbsp.circuits.operators.joins.lookup import Lookup
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.sides import side_of, with_the_others
from dbsp.sql.plans import nodes as p


def lower_arrival_join(lowering: Lowering, plan: p.ArrivalJoin) -> int:
    """The node whose stream is the join's change."""
    left = side_of(lowering, plan.left, plan.left_keys, plan.null_safe)
    right = side_of(lowering, plan.right, plan.right_keys, plan.null_safe)
    own, width = len(plan.left.schema), len(left.fields)
    both = own + len(plan.right.schema)
    moved = {i: i if i < own else width + i - own for i in range(both)}
    residual = None if plan.residual is None else remap(plan.residual, moved)
    arriving = lowering.builder.placed(left.eligible, left.key)
    table = lowering.integrated(right.eligible, right.key)
    joined = lowering.builder.add(Lookup(left.key, right.key, plan.kind, residual), arriving, table)
    positions = [moved[i] for i in range(len(plan.schema))]
    columns: tuple[Expression, ...] = tuple(
        Column(i, f.type, f.nullable) for i, f in zip(positions, plan.schema, strict=True)
    )
    node = lowering.map(joined, columns, plan.schema)
    return (
        with_the_others(lowering, node, left, positions, own, plan.schema)
        if plan.kind in ("left", "anti")
        else node
    )
