"""The sides of joins that pair each left row with what one look at the right finds.

A row with a key that is NULL and compared by =, or without a further value that is compared, has no match. It
isn't stored, and on the left side of an outer join goes out beside NULLs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.expressions.predicates import conjunction
from dbsp.circuits.operators.linear import Filter, Union
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.window import Columns
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Schema, arrow_schema


@dataclass(frozen=True)
class Side:
    """node: its rows, and then computed keys and further values. condition: what makes a row eligible for a
    match, if not every row is. eligible: the rows that are.
    """

    node: int
    fields: tuple[Field, ...]
    key: tuple[int, ...]
    further: tuple[int, ...]
    condition: Expression | None
    eligible: int


def side_of(
    lowering: Lowering,
    plan: Plan,
    keys: Sequence[Expression],
    null_safe: Sequence[bool],
    further: Sequence[Expression] = (),
) -> Side:
    """A side with what is compared as columns."""
    columns = Columns(plan.schema)
    key, others = tuple(map(columns.at, keys)), tuple(map(columns.at, further))
    required = [*(i for i, safe in zip(key, null_safe, strict=True) if not safe), *others]
    fields = columns.fields
    there: list[Expression] = [
        Call("is_not_null", (Column(i, fields[i].type),), pa.bool_(), nullable=False)
        for i in required
        if fields[i].nullable
    ]
    condition = conjunction(there)
    node = columns.node(lowering, plan)
    eligible = node if condition is None else lowering.builder.add(Filter(condition), node)
    return Side(node, tuple(fields), key, others, condition, eligible)


def with_the_others(
    lowering: Lowering, node: int, left: Side, positions: Sequence[int], width: int, schema: Schema
) -> int:
    """`node`, and the left rows that aren't eligible. positions: of the output's columns, in the left side as
    far as they are of it: the first `width`; the others are NULL there.
    """
    if left.condition is None:
        return node
    never = Call("not", (left.condition,), pa.bool_(), nullable=False)
    missing = lowering.builder.placed(lowering.builder.add(Filter(never), left.node), left.key)
    padded: tuple[Expression, ...] = tuple(
        Column(position, field.type, field.nullable) if i < width else Literal(None, field.type)
        for i, (position, field) in enumerate(zip(positions, schema, strict=True))
    )
    union = Union(arrow_schema(schema))
    return lowering.builder.add(union, node, lowering.map(missing, padded, schema))
