"""Expressions as a person writes them, with names for positions."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pyarrow as pa

from dbsp.circuits.expressions.monotone import floored
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, Variable
from dbsp.circuits.expressions.predicates import SIGNS
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.circuits.functions.spark.expression import SparkExpression
from dbsp.sql.plans.calls import AggregateCall, SortOrder
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.types import type_name

INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "remainder": "%",
    "equal_to": "=",
    "equal_null_safe": "<=>",
    **SIGNS,
    "and": "AND",
    "or": "OR",
}


def spell(expression: Expression, schema: Schema) -> str:
    """The expression over columns of `schema`."""
    if isinstance(expression, Column):
        return schema[expression.index].name
    if isinstance(expression, Literal):
        return _literal(expression)
    if isinstance(expression, Variable):
        return str(expression)
    aligned = _aligned(expression, schema)
    if aligned:
        return aligned
    arguments = [_operand(a, schema) for a in expression.arguments]
    if expression.function in ("timestamp_add_interval", "time_add"):
        return _shifted(arguments[0], expression.arguments[1], arguments[1])
    if expression.function in INFIX and len(arguments) == 2:
        return f" {INFIX[expression.function]} ".join(arguments)
    plain = [spell(a, schema) for a in expression.arguments]
    if expression.function == "lambda_function":
        parameters = plain[1] if len(plain) == 2 else f"({', '.join(plain[1:])})"
        return f"{parameters} -> {plain[0]}"
    if expression.function == "cast":
        return f"CAST({plain[0]} AS {type_name(expression.type)})"
    if expression.function == "get_struct_field":
        struct = expression.arguments[0]
        ordinal = expression.option("ordinal")
        if pa.types.is_struct(struct.type) and isinstance(ordinal, int):
            return f"{plain[0]}.{struct.type.field(ordinal).name}"
    if expression.function == "precise_timestamp_conversion":
        return f"{'micros' if pa.types.is_integer(expression.type) else 'timestamp'}({plain[0]})"
    if expression.function in ("is_null", "is_not_null"):
        return f"{arguments[0]} {expression.function.replace('_', ' ').upper()}"
    return f"{_called(expression)}({', '.join(plain)})"


def _called(call: Call) -> str:
    """What Spark evaluates says so: it costs more."""
    function, expression = call.option("function"), call.option("expression")
    if isinstance(expression, SparkExpression):
        return f"spark.{expression.name}"
    return function.name if isinstance(function, PythonFunction) else call.function


def _aligned(expression: Call, schema: Schema) -> str:
    """`floor(x to n)` for the start of x's window; '' for anything else. A time's window is in hours."""
    is_time = expression.function == "precise_timestamp_conversion" and pa.types.is_timestamp(expression.type)
    inner = expression.arguments[0] if is_time else expression
    value = floored(inner) if isinstance(inner, Call) else None
    if value is None:
        return ""
    assert isinstance(inner, Call)
    remainder = inner.arguments[1]
    assert isinstance(remainder, Call)
    shifted, width = remainder.arguments
    shift = shifted.arguments[1] if shifted != value and isinstance(shifted, Call) else None
    if is_time and isinstance(value, Call):
        value = value.arguments[0]
    start = "" if shift is None else f" from {_length(shift, is_time)}"
    return f"floor({spell(value, schema)} to {_length(width, is_time)}{start})"


def _length(literal: Expression, is_time: bool) -> str:
    assert isinstance(literal, Literal)
    return str(timedelta(microseconds=literal.value)) if is_time else str(literal.value)  # type: ignore[arg-type]


def _shifted(time: str, interval: Expression, spelled: str) -> str:
    if (
        isinstance(interval, Literal)
        and isinstance(interval.value, timedelta)
        and interval.value < timedelta(0)
    ):
        return f"{time} - {-interval.value}"
    return f"{time} + {spelled}"


def _operand(expression: Expression, schema: Schema) -> str:
    spelled = spell(expression, schema)
    nested = isinstance(expression, Call) and expression.function in (
        *INFIX,
        "timestamp_add_interval",
        "time_add",
    )
    return f"({spelled})" if nested else spelled


def _literal(literal: Literal) -> str:
    value = literal.value
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.replace(tzinfo=None)}'"
    if isinstance(value, date):
        return f"DATE '{value}'"
    return str(value)


def spell_call(call: AggregateCall, schema: Schema) -> str:
    arguments = ", ".join(spell(a, schema) for a in call.arguments) or "*"
    filtered = f" FILTER (WHERE {spell(call.filter, schema)})" if call.filter is not None else ""
    return f"{call.called}({'DISTINCT ' if call.distinct else ''}{arguments}){filtered}"


def spell_order(order: tuple[SortOrder, ...], schema: Schema) -> str:
    return ", ".join(spell(by.expression, schema) + (" DESC" if by.descending else "") for by in order)


def spell_columns(schema: tuple[Field, ...]) -> str:
    return ", ".join(f"{f.name} {type_name(f.type)}{'' if f.nullable else ' NOT NULL'}" for f in schema)
