"""first and last, which follow the order of arrival: the least and the greatest of it.

    γ[k; first(x)](a) = γ[k; min_by(x, arrival)](a with its arrival)        last: max_by

The arrival of a row is a list of columns, compared one after the other:

    a table         (a): step, then position in the step. Of a bag's row each copy has its own; with a PRIMARY
                    KEY it is that of the key's last upsert (`dbsp.circuits.operators.inputs.arrivals`)
    filter, projection, [NOT] IN, EXISTS, ASOF, OVER, LIMIT, GROUPING SETS
                    that of the row that is kept, or added to
    UNION ALL       that of the row on its side
    a join          (max(l, r), l…, r…): a pair arrives when the later of its rows does, a row beside NULLs
                    with itself
    explode         (a…, place)
    a view          that of its query

So it is a function of the tables and their order of arrival, whatever the steps in which views changed.
Other relations have none: a row of a GROUP BY, DISTINCT or set operation is made of many, and one of a
recursive view in many ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, remap
from dbsp.circuits.operators.inputs.arrivals import ARRIVAL
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import (
    AsOf,
    Expand,
    Filter,
    Generate,
    Join,
    Project,
    Scan,
    TemporalFilter,
    Top,
    Union,
    Window,
)
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Schema, columns_of_schema

_BY = {"first": "min_by", "last": "max_by"}
_FIELD = Field(ARRIVAL, pa.int64(), nullable=False)
_NEVER = Literal(0, pa.int64())
_KEEPING_LEFT = ("semi", "anti", "existence")
_VALUE = "value"


class Arrived(NamedTuple):
    """plan: with `size` columns more at its end."""

    plan: Plan
    size: int

    @property
    def columns(self) -> tuple[Column, ...]:
        return columns_of_schema(self.plan.schema)[-self.size :]


def by_arrival(
    query: Query, node: Node, input_: Plan, calls: Sequence[AggregateCall]
) -> tuple[Plan, list[AggregateCall], Callable[[Column], Expression]]:
    """(the input, the calls without first and last, what each column of the calls' results becomes).

    Raises ProgramError where the input has no arrival.
    """
    if not any(call.function in _BY for call in calls):
        return input_, list(calls), lambda column: column
    arrived = _with_arrival(query, node, input_)
    return (
        arrived.plan,
        [_by(call, arrived.columns) if call.function in _BY else call for call in calls],
        _value if arrived.size > 1 else lambda column: column,
    )


def _by(call: AggregateCall, arrival: Sequence[Column]) -> AggregateCall:
    """By the first column of the arrival; of several the one that is extreme by the others."""
    (value,) = call.arguments
    condition = call.filter
    if call.option("ignoreNulls") and value.nullable:
        known = Call("is_not_null", (value,), pa.bool_(), nullable=False)
        both = None if condition is None else Call("and", (condition, known), pa.bool_())
        condition = both or known
    if len(arrival) > 1:
        value = _beside(arrival[1:], value)
    return replace(
        call,
        function=_BY[call.function],
        arguments=(arrival[0], value),
        type=value.type,
        filter=condition,
        options=(),
    )


def _beside(ties: Sequence[Column], value: Expression) -> Call:
    fields = [(f"{ARRIVAL}{i}", tie) for i, tie in enumerate(ties)]
    parts: list[Expression] = []
    for name, part in (*fields, (_VALUE, value)):
        parts += [Literal(name, pa.string()), part]
    kind = pa.struct([*((name, tie.type) for name, tie in fields), (_VALUE, value.type)])
    return Call("create_named_struct", tuple(parts), kind, nullable=False)


def _value(column: Column) -> Expression:
    """The value of a column that has its arrival beside it."""
    data_type = column.type
    if not (
        pa.types.is_struct(data_type)
        and data_type.num_fields > 1
        and data_type.field(0).name == f"{ARRIVAL}0"
    ):
        return column
    ordinal = data_type.num_fields - 1
    return Call("get_struct_field", (column,), data_type.field(ordinal).type, options=(("ordinal", ordinal),))


# ---- where rows have an arrival


def _with_arrival(query: Query, node: Node, plan: Plan) -> Arrived:
    match plan:
        case Scan() if plan.relation in query.arriving:
            return Arrived(replace(plan, schema=(*plan.schema, _FIELD), arrival=True), 1)
        case Scan() if (view := query.view(plan.relation)) is not None:
            return _with_arrival(query, node, view)
        case Filter() | TemporalFilter():
            below = _with_arrival(query, node, plan.input)
            return Arrived(replace(plan, input=below.plan), below.size)
        case Project():
            below = _with_arrival(query, node, plan.input)
            expressions = (*plan.expressions, *below.columns)
            return Arrived(Project(below.plan, expressions, _widened(plan.schema, below.size)), below.size)
        case Expand():
            below = _with_arrival(query, node, plan.input)
            projections = tuple((*each, *below.columns) for each in plan.projections)
            return Arrived(Expand(below.plan, projections, _widened(plan.schema, below.size)), below.size)
        case Union():
            return _of_union(plan, [_with_arrival(query, node, each) for each in plan.inputs])
        case Generate():
            return _of_generate(plan, _with_arrival(query, node, plan.input))
        case Window() | Top():
            below = _with_arrival(query, node, plan.input)
            width = len(plan.input.schema)
            schema = (*below.plan.schema, *plan.schema[width:])
            return _moved(replace(plan, input=below.plan, schema=schema), width, below.size, plan.schema)
        case AsOf():
            left = _with_arrival(query, node, plan.left)
            schema = join_schema(plan.kind, left.plan.schema, plan.right.schema)
            kept = replace(plan, left=left.plan, schema=schema)
            return _moved(kept, len(plan.left.schema), left.size, plan.schema)
        case Join():
            left = _with_arrival(query, node, plan.left)
            right = None if plan.kind in _KEEPING_LEFT else _with_arrival(query, node, plan.right)
            return _of_join(plan, left, right)
    over = f"'{plan.relation}'" if isinstance(plan, Scan) else f"the rows of {type(plan).__name__.upper()}"
    advice = (
        "those of tables have one, and what filters, joins and unites them; "
        "say min_by(x, time), max_by(x, time) or any_value(x)"
    )
    raise query.refuse(node, f"first() and last() over {over}, by the order of arrival: {advice}")


def _widened(schema: Schema, size: int) -> Schema:
    return (*schema, *[_FIELD] * size)


def _moved(plan: Plan, start: int, size: int, schema: Schema) -> Arrived:
    """The arrival, which is at `start`, behind the other columns. schema: of those."""
    columns = columns_of_schema(plan.schema)
    order = (*columns[:start], *columns[start + size :], *columns[start : start + size])
    return Arrived(Project(plan, order, _widened(schema, size)), size)


def _of_union(plan: Union, inputs: list[Arrived]) -> Arrived:
    size = max(each.size for each in inputs)
    padded = []
    for each in inputs:
        columns = columns_of_schema(each.plan.schema)
        wide: tuple[Expression, ...] = (*columns, *[_NEVER] * (size - each.size))
        padded.append(
            each.plan if each.size == size else Project(each.plan, wide, _widened(plan.schema, size))
        )
    return Arrived(Union(tuple(padded), _widened(plan.schema, size)), size)


def _of_generate(plan: Generate, below: Arrived) -> Arrived:
    kept = (*plan.kept, *(column.index for column in below.columns))
    start = len(plan.kept)
    place = Field("pos", pa.int32(), nullable=plan.outer)
    rest = plan.schema[start:] if plan.position else (place, *plan.schema[start:])
    schema = (*plan.schema[:start], *[_FIELD] * below.size, *rest)
    generated = Generate(below.plan, kept, plan.elements, schema, plan.outer, True, plan.fields)
    columns: tuple[Expression, ...] = columns_of_schema(schema)
    at = start + below.size
    position = Call("cast", (columns[at],), pa.int64(), columns[at].nullable, options=(("evalMode", "ANSI"),))
    arrival = (*columns[start:at], _or_never(position))
    elements = columns[at:] if plan.position else columns[at + 1 :]
    size = below.size + 1
    return Arrived(
        Project(generated, (*columns[:start], *elements, *arrival), _widened(plan.schema, size)), size
    )


def _of_join(plan: Join, left: Arrived, right: Arrived | None) -> Arrived:
    """right: None where only left rows come out."""
    width = len(plan.left.schema)
    inner = plan.right if right is None else right.plan
    at = {i: i if i < width else i + left.size for i in range(width + len(plan.right.schema))}
    joined = Join(
        left.plan,
        inner,
        plan.kind,
        plan.left_keys,
        plan.right_keys,
        plan.null_safe,
        None if plan.residual is None else remap(plan.residual, at),
        join_schema(plan.kind, left.plan.schema, inner.schema),
    )
    if right is None:
        return _moved(joined, width, left.size, plan.schema)
    columns = columns_of_schema(joined.schema)
    mine = tuple(map(_or_never, columns[width : width + left.size]))
    yours = tuple(map(_or_never, columns[-right.size :]))
    later = Call("greatest", (mine[0], yours[0]), pa.int64(), nullable=False)
    expressions = (*columns[:width], *columns[width + left.size : -right.size], later, *mine, *yours)
    size = 1 + left.size + right.size
    return Arrived(Project(joined, expressions, _widened(plan.schema, size)), size)


def _or_never(arrival: Expression) -> Expression:
    """0 beside NULLs."""
    if not arrival.nullable:
        return arrival
    return Call("coalesce", (arrival, _NEVER), arrival.type, nullable=False)
