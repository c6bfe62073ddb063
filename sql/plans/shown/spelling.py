"""Expressions and plan nodes as a person writes them, with names for positions."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

import pyarrow as pa

from dbsp.circuits.expressions.monotone import floored
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, Variable
from dbsp.circuits.expressions.predicates import SIGNS
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.plans.calls import AggregateCall, SortOrder, TimeBound, WindowCall
from dbsp.sql.plans.plan import (
    Aggregate,
    AsOf,
    Distinct,
    Expand,
    Filter,
    Generate,
    Join,
    Levels,
    Plan,
    Project,
    Scan,
    SetOperation,
    TemporalFilter,
    TimedProjection,
    Top,
    Union,
    Values,
    Window,
    unknown,
)
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.types import UnsupportedType, ddl

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


_NOW = (Field("now()", CLOCK.type, False),)


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
    function = expression.option("function")
    called = function.name if isinstance(function, PythonFunction) else expression.function
    return f"{called}({', '.join(plain)})"


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


def type_name(type_: pa.DataType) -> str:
    try:
        # names of fields are the user's
        return re.sub(r"`[^`]*`|[a-z]+", lambda m: m[0] if m[0][0] == "`" else m[0].upper(), ddl(type_))
    except UnsupportedType:
        return str(type_)


def spell_call(call: AggregateCall, schema: Schema) -> str:
    arguments = ", ".join(spell(a, schema) for a in call.arguments) or "*"
    filtered = f" FILTER (WHERE {spell(call.filter, schema)})" if call.filter is not None else ""
    return f"{call.called}({'DISTINCT ' if call.distinct else ''}{arguments}){filtered}"


def spell_node(plan: Plan) -> str:  # noqa: PLR0912  a case a plan node
    """One line: what this node does to its inputs."""
    match plan:
        case Scan():
            return f"scan {plan.relation}{' with its order of arrival' if plan.arrival else ''}"
        case Values():
            return f"values of {len(plan.rows)} rows"
        case Project():
            return "project " + _aliased(plan.expressions, plan.schema, plan.input.schema)
        case Filter():
            return "filter " + spell(plan.condition, plan.input.schema)
        case TemporalFilter():
            return "filter " + " AND ".join(_spell_bound(bound, plan.input.schema) for bound in plan.bounds)
        case TimedProjection():
            return _spell_timed_projection(plan)
        case Join() | AsOf():
            return _spell_join(plan)
        case Aggregate():
            keys = ", ".join(spell(key, plan.input.schema) for key in plan.keys) or "nothing"
            calls = ", ".join(spell_call(call, plan.input.schema) for call in plan.aggregates)
            return f"aggregate by {keys}: {calls}"
        case Distinct() | Union():
            return "distinct" if isinstance(plan, Distinct) else "union all"
        case Levels():
            return f"all of at most {plan.limit} levels: the first, and then each from the one before"
        case SetOperation():
            return plan.kind
        case Expand():
            return f"expand every row to {len(plan.projections)} of ({', '.join(_names(plan.schema))})"
        case Generate():
            outer = "outer " if plan.outer else ""
            return f"{outer}generate from {spell(plan.elements, plan.input.schema)}"
        case Top():
            keys = ", ".join(spell(key, plan.input.schema) for key in plan.partition) or "nothing"
            order = _spell_order(plan.order, plan.input.schema)
            return f"top {plan.size} by {keys}, {plan.ranking}() ordered by {order}"
        case Window():
            keys = ", ".join(spell(key, plan.input.schema) for key in plan.partition) or "nothing"
            calls = ", ".join(_spell_over(call, plan.input.schema) for call in plan.calls)
            return f"windows by {keys}: {calls}"
        case _:
            raise unknown(plan, "how it is spelled")


def _spell_bound(bound: TimeBound, schema: Schema) -> str:
    operator = (">" if bound.leaves else "<") + ("=" if bound.leaves != bound.at_once else "")
    return f"{spell(bound.value, schema)} {operator} {spell(bound.clock, _NOW)}"


def _spell_timed_projection(plan: TimedProjection) -> str:
    schema = (*plan.input.schema, *_NOW)  # the clock's column is the last
    made = plan.schema[len(plan.input.schema) :]
    values = [f"{spell(e, schema)} AS {f.name}" for e, f in zip(plan.expressions, made, strict=True)]
    shown = [] if plan.condition is None else [f"filter {spell(plan.condition, schema)}"]
    return "; ".join([*shown, *(["with " + ", ".join(values)] if values else [])])


def _spell_over(call: WindowCall, schema: Schema) -> str:
    arguments = ", ".join(spell(a, schema) for a in call.arguments)
    order = _spell_order(call.order, schema)
    return f"{call.function}({arguments})" + (f" ordered by {order}" if order else "")


def _spell_order(order: tuple[SortOrder, ...], schema: Schema) -> str:
    return ", ".join(spell(by.expression, schema) + (" DESC" if by.descending else "") for by in order)


def _spell_join(plan: Join | AsOf) -> str:
    left, right = _qualified(plan.left.schema, plan.right.schema)
    keys = [
        f"{spell(a, left)} {'<=>' if safe else '='} {spell(b, right)}"
        for a, b, safe in zip(plan.left_keys, plan.right_keys, plan.null_safe, strict=True)
    ]
    if isinstance(plan, AsOf):
        times = f"{spell(plan.left_time, left)} {INFIX[plan.comparison]} {spell(plan.right_time, right)}"
        on = f" on {' AND '.join(keys)}" if keys else ""
        return f"{plan.kind} join with the nearest of {times}{on}"
    residual = [spell(plan.residual, (*left, *right))] if plan.residual is not None else []
    condition = " AND ".join([*keys, *residual])
    return f"{plan.kind} join on {condition}" if condition else f"{plan.kind} join of every pair"


def _qualified(left: Schema, right: Schema) -> tuple[Schema, Schema]:
    """Names that both sides have say whose they are."""
    both = set(_names(left)) & set(_names(right))

    def named(side: str, schema: Schema) -> Schema:
        return tuple(
            Field(f"{side}.{f.name}" if f.name in both else f.name, f.type, f.nullable) for f in schema
        )

    return named("left", left), named("right", right)


def _aliased(expressions: tuple[Expression, ...], schema: Schema, below: Schema) -> str:
    parts = []
    for expression, field in zip(expressions, schema, strict=True):
        spelled = spell(expression, below)
        inner = isinstance(expression, Call) and field.name == expression.function
        parts.append(spelled if inner or spelled == field.name else f"{spelled} AS {field.name}")
    return ", ".join(parts)


def _names(schema: Schema) -> list[str]:
    return [field.name for field in schema]


def spell_columns(schema: tuple[Field, ...]) -> str:
    return ", ".join(f"{f.name} {type_name(f.type)}{'' if f.nullable else ' NOT NULL'}" for f in schema)
