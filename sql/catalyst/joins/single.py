"""At most one row: the values of a relation that must not have several rows, of a key or at all.

    single(b)[k] = (min(values of the rows of key k), their number)

`single_row(value, number)` is the value, or an error where the number is above one.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field


def single(
    query: Query, node: Node, plan: Plan, keys: tuple[Expression, ...], values: tuple[Expression, ...]
) -> Aggregate:
    """Per key the values of its row, if it has one, and a last column which says how many it has."""
    for value in values:
        if pt.is_nested(value.type) or pt.is_null(value.type):
            raise query.refuse(node, f"a scalar subquery of type {value.type}")
    calls = tuple(AggregateCall("min", (value,), value.type, True) for value in values)
    fields = tuple(Field(f"key{i + 1}", key.type, key.nullable) for i, key in enumerate(keys))
    fields += tuple(Field(f"value{i + 1}", value.type, True) for i, value in enumerate(values))
    count = AggregateCall("count", (), pa.int64(), False)
    return Aggregate(plan, keys, (*calls, count), (*fields, Field("rows", pa.int64(), False)))


def single_row(value: Expression, count: Expression) -> Call:
    return Call("single_row", (value, count), value.type, True)
