"""Lowering of as-of joins: both sides by key and in the order of their time.

A row without a time, or with a key that is NULL and compared by =, has no match. It isn't stored, and on the
left side of an outer join goes out beside NULLs.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.expressions.predicates import conjunction
from dbsp.circuits.operators.joins.as_of import AsOf
from dbsp.circuits.operators.linear import Filter, Union
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.window import Columns
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import arrow_schema


@dataclass(frozen=True)
class _Side:
    """node: its rows, and then computed keys and times. condition: what makes a row eligible for a match."""

    node: int
    width: int
    key: tuple[int, ...]
    time: int
    condition: Expression | None
    trace: int


def lower_as_of(lowering: Lowering, plan: p.AsOf) -> int:
    """The node whose stream is the join's change."""
    add = lowering.builder.add
    left = _side(lowering, plan.left, plan.left_keys, plan.null_safe, plan.left_time)
    right = _side(lowering, plan.right, plan.right_keys, plan.null_safe, plan.right_time)
    outer = plan.kind == "left"
    grows = lowering.append_only(plan.right)
    operator = AsOf(left.key, right.key, left.time, right.time, plan.comparison, outer, grows)
    joined = add(operator, left.trace, right.trace)
    own = len(plan.left.schema)
    positions = [i if i < own else left.width + i - own for i in range(len(plan.schema))]
    columns: tuple[Expression, ...] = tuple(
        Column(i, f.type, f.nullable) for i, f in zip(positions, plan.schema, strict=True)
    )
    node = lowering.map(joined, columns, plan.schema)
    if not outer or left.condition is None:
        return node
    matchless = Call("not", (left.condition,), pa.bool_(), nullable=False)
    missing = lowering.builder.placed(add(Filter(matchless), left.node), left.key)
    padded: tuple[Expression, ...] = tuple(
        column if i < own else Literal(None, column.type) for i, column in enumerate(columns)
    )
    return add(Union(arrow_schema(plan.schema)), node, lowering.map(missing, padded, plan.schema))


def _side(
    lowering: Lowering,
    plan: Plan,
    keys: tuple[Expression, ...],
    null_safe: tuple[bool, ...],
    time: Expression,
) -> _Side:
    columns = Columns(plan.schema)
    key, position = tuple(columns.at(one) for one in keys), columns.at(time)
    required = [i for i, safe in zip(key, null_safe, strict=True) if not safe] + [position]
    fields = columns.fields
    there: list[Expression] = [
        Call("is_not_null", (Column(i, fields[i].type),), pa.bool_(), nullable=False)
        for i in required
        if fields[i].nullable
    ]
    condition = conjunction(there)
    node = columns.node(lowering, plan)
    eligible = node if condition is None else lowering.builder.add(Filter(condition), node)
    placed = lowering.builder.placed(eligible, key)
    trace = lowering.builder.add(Integrate(key, order=position), placed)
    return _Side(node, len(fields), key, position, condition, trace)
