"""Inner columns are named after what they hold, so that sub-plans which differ in aliases only are equal.

A column keeps its source's name, also through a cast; another call has its function's. The root keeps the
user's names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbsp.circuits.expressions.nodes import Call, Column, Expression
from dbsp.sql.plans.calls import AggregateCall
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
from dbsp.sql.rules.traverse import bottom_up

_SAME_VALUE = {"cast", "normalize_na_n_and_zero"}


def names(plan: Plan) -> Plan:
    named = bottom_up(plan, _name)
    if isinstance(named, (Project, Aggregate, Expand, SetOperation, Union, Values)):
        return replace(named, schema=plan.schema)
    if named.schema == plan.schema:
        return named
    columns = tuple(Column(i, field.type, field.nullable) for i, field in enumerate(named.schema))
    return Project(named, columns, plan.schema)


def _name(node: Plan) -> Plan:
    match node:
        case Project():
            return replace(node, schema=_named(node.expressions, node.schema, node.input.schema))
        case Aggregate():
            columns = (*node.keys, *node.aggregates)
            return replace(node, schema=_named(columns, node.schema, node.input.schema))
        case Expand():
            return replace(node, schema=_named(node.projections[0], node.schema, node.input.schema))
        case Window():
            computed = (Field(call.function, call.type, call.nullable) for call in node.calls)
            return replace(node, schema=(*node.input.schema, *computed))
        case TimedProjection():
            made = _named(node.expressions, node.schema[len(node.input.schema) :], node.input.schema)
            return replace(node, schema=(*node.input.schema, *made))
        case SetOperation():
            pairs = zip(node.left.schema, node.schema, strict=True)
            return replace(node, schema=tuple(Field(a.name, b.type, b.nullable) for a, b in pairs))
        case Top():
            computed = (
                Field(node.ranking, f.type, f.nullable) for f in node.schema[len(node.input.schema) :]
            )
            return replace(node, schema=(*node.input.schema, *computed))
        case Union():
            pairs = zip(node.inputs[0].schema, node.schema, strict=True)
            return replace(node, schema=tuple(Field(a.name, b.type, b.nullable) for a, b in pairs))
        case Values():
            fields = [Field(f"c{i}", f.type, f.nullable) for i, f in enumerate(node.schema)]
            return replace(node, schema=tuple(fields))
        case Scan() | Filter() | TemporalFilter() | Join() | AsOf() | Distinct() | Generate() | Levels():
            return node
        case _:
            raise unknown(node, "what its columns are called")


def _named(columns: Sequence[Expression | AggregateCall], schema: Schema, below: Schema) -> Schema:
    return tuple(
        Field(_word(column, below), field.type, field.nullable)
        for column, field in zip(columns, schema, strict=True)
    )


def _word(column: Expression | AggregateCall, below: Schema) -> str:
    if isinstance(column, Column):
        return below[column.index].name
    if isinstance(column, Call) and column.function in _SAME_VALUE:
        return _word(column.arguments[0], below)
    if isinstance(column, Call) and column.function == "precise_timestamp_conversion":
        return "window_time"
    return getattr(column, "function", "literal")
