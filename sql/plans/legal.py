"""What several plan nodes ask of a legal plan. Each raises AssertionError naming the node."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression
from dbsp.sql.plans.calls import AggregateCall, WindowCall
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Schema


def check_types(
    plan: Plan, values: Iterable[Expression | AggregateCall | WindowCall | Field], schema: Schema
) -> None:
    """The values have the columns' types."""
    types, expected = [value.type for value in values], [field.type for field in schema]
    assert types == expected, at_fault(plan, f"types {types} under a schema of {expected}")


def check_columns(plan: Plan, expressions: Iterable[Expression], schema: Schema) -> None:
    """The columns that the expressions read are there, with their types."""
    for expression in expressions:
        for column in _columns(expression):
            assert 0 <= column.index < len(schema), at_fault(plan, f"no column {column} of {len(schema)}")
            data_type: pa.DataType = schema[column.index].type
            assert column.type == data_type, at_fault(plan, f"{column} is {data_type}, not {column.type}")


def _columns(expression: Expression) -> Iterable[Column]:
    if isinstance(expression, Column):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _columns(argument)


def at_fault(plan: Plan, message: str) -> str:
    return f"{type(plan).__name__}: {message}"
