"""Rows with their order of arrival: a list of columns, compared one after the other.

    a table         (a): step, then position in the step. Of a bag's row each copy has its own; with a PRIMARY
                    KEY it is that of the key's last upsert (`dbsp.circuits.operators.inputs.arrivals`)
    filter, projection, [NOT] IN, EXISTS, ASOF, OVER, LIMIT, GROUPING SETS, values by the clock
                    that of the row that is kept, or added to
    UNION ALL       that of the row on its side
    a join          (max(l, r), l…, r…): a pair arrives when the later of its rows does, a row beside NULLs
                    with itself
    a stream that meets a table           that of the stream's row, which meets it then
    explode         (a…, place)
    a view          that of its query

So it is a function of the tables and their order of arrival, whatever the steps in which views changed.
Other relations have none: a row of a GROUP BY, DISTINCT or set operation is made of many, and one of a
recursive view in many ways.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, remap
from dbsp.circuits.operators.inputs.arrivals import ARRIVAL
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.nodes import (
    ArrivalJoin,
    AsOf,
    Expand,
    Filter,
    Generate,
    Join,
    Project,
    Scan,
    TemporalFilter,
    TimedProjection,
    Top,
    Union,
    Window,
)
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Schema, columns_of_schema

_FIELD = Field(ARRIVAL, pa.int64(), nullable=False)
_NEVER = Literal(0, pa.int64())
_KEEPING_LEFT = ("semi", "anti", "existence")


class Arrived(NamedTuple):
    """plan: with `size` columns more at its end."""

    plan: Plan
    size: int

    @property
    def columns(self) -> tuple[Column, ...]:
        return columns_of_schema(self.plan.schema)[-self.size :]


class _HasNoneError(Exception):
    """plan: whose rows have no arrival."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan


def numbered_by_arrival(query: Query, node: Node, plan: Plan, name: str) -> Plan:
    """The plan's rows with one column more, of that name: a BIGINT that is greater the later a row arrives.

    Of a join it is that of the later row, and of explode() that of the row which has the array: the same of
    several. Raises ProgramError where rows have no order of arrival.
    """
    arrived = with_arrival(query, node, plan, "a number")
    columns = columns_of_schema(arrived.plan.schema)[: len(plan.schema) + 1]
    return Project(arrived.plan, columns, (*plan.schema, replace(_FIELD, name=name)))


def with_arrival(query: Query, node: Node, plan: Plan, asked: str = "first() and last()") -> Arrived:
    """The plan's rows with their arrival. node: what asks for it, which is called `asked`.

    Raises ProgramError where they have none.
    """
    try:
        return _looking_into_views(query, plan)
    except _HasNoneError as error:
        without = error.plan
    over = (
        f"'{without.relation}'"
        if isinstance(without, Scan)
        else f"the rows of {type(without).__name__.upper()}"
    )
    advice = (
        "those of tables have one, and what filters, joins and unites them; "
        "say min_by(x, time), max_by(x, time) or any_value(x)"
    )
    raise query.refuse(node, f"{asked} over {over}, by the order of arrival: {advice}")


def arrival_of(query: Query, plan: Plan) -> Arrived | None:
    """The plan's rows with their arrival; None where they have none."""
    try:
        return _looking_into_views(query, plan)
    except _HasNoneError:
        return None


def _looking_into_views(query: Query, plan: Plan) -> Arrived:
    """Only where there is an arrival are views looked into."""
    views: set[str] = set()
    arrived = _arrived(query, views, plan)
    query.looked_into.update(views)
    return arrived


def _arrived(query: Query, views: set[str], plan: Plan) -> Arrived:
    """views: is told whose plans are read."""
    match plan:
        case Scan() if plan.arrival:
            columns = columns_of_schema(plan.schema)
            return Arrived(Project(plan, (*columns, columns[-1]), (*plan.schema, _FIELD)), 1)
        case Scan() if plan.relation in query.arriving:
            return Arrived(replace(plan, schema=(*plan.schema, _FIELD), arrival=True), 1)
        case Scan() if plan.relation in query.views:
            views.add(plan.relation)
            return _arrived(query, views, query.views[plan.relation])
        case Filter() | TemporalFilter():
            below = _arrived(query, views, plan.input)
            return Arrived(replace(plan, input=below.plan), below.size)
        case Project():
            below = _arrived(query, views, plan.input)
            expressions = (*plan.expressions, *below.columns)
            return Arrived(Project(below.plan, expressions, _widened(plan.schema, below.size)), below.size)
        case Expand():
            below = _arrived(query, views, plan.input)
            projections = tuple((*each, *below.columns) for each in plan.projections)
            return Arrived(Expand(below.plan, projections, _widened(plan.schema, below.size)), below.size)
        case Union():
            return _of_union(plan, [_arrived(query, views, each) for each in plan.inputs])
        case Generate():
            return _of_generate(plan, _arrived(query, views, plan.input))
        case Window() | Top() | TimedProjection():
            below = _arrived(query, views, plan.input)
            width = len(plan.input.schema)
            schema = (*below.plan.schema, *plan.schema[width:])
            return _moved(replace(plan, input=below.plan, schema=schema), width, below.size, plan.schema)
        case AsOf():
            left = _arrived(query, views, plan.left)
            schema = join_schema(plan.kind, left.plan.schema, plan.right.schema)
            kept = replace(plan, left=left.plan, schema=schema)
            return _moved(kept, len(plan.left.schema), left.size, plan.schema)
        case ArrivalJoin():
            left = _arrived(query, views, plan.left)
            return _moved(_joined(plan, left, plan.right), len(plan.left.schema), left.size, plan.schema)
        case Join():
            left = _arrived(query, views, plan.left)
            right = None if plan.kind in _KEEPING_LEFT else _arrived(query, views, plan.right)
            return _of_join(plan, left, right)
    raise _HasNoneError(plan)


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
    number = columns[start + below.size]
    position = Call("cast", (number,), pa.int64(), number.nullable, options=(("evalMode", "ANSI"),))
    arrival = (*columns[start : start + below.size], _or_never(position))
    elements = columns[start + below.size + (not plan.position) :]
    size = below.size + 1
    return Arrived(
        Project(generated, (*columns[:start], *elements, *arrival), _widened(plan.schema, size)), size
    )


def _of_join(plan: Join, left: Arrived, right: Arrived | None) -> Arrived:
    """right: None where only left rows come out."""
    width = len(plan.left.schema)
    joined = _joined(plan, left, plan.right if right is None else right.plan)
    if right is None:
        return _moved(joined, width, left.size, plan.schema)
    columns = columns_of_schema(joined.schema)
    mine = tuple(map(_or_never, columns[width : width + left.size]))
    yours = tuple(map(_or_never, columns[-right.size :]))
    later = Call("greatest", (mine[0], yours[0]), pa.int64(), nullable=False)
    expressions = (*columns[:width], *columns[width + left.size : -right.size], later, *mine, *yours)
    size = 1 + left.size + right.size
    return Arrived(Project(joined, expressions, _widened(plan.schema, size)), size)


def _joined(plan: Join | ArrivalJoin, left: Arrived, right: Plan) -> Join | ArrivalJoin:
    """The join over a left side that is wider."""
    width = len(plan.left.schema)
    position = {i: i if i < width else i + left.size for i in range(width + len(plan.right.schema))}
    residual = None if plan.residual is None else remap(plan.residual, position)
    schema = join_schema(plan.kind, left.plan.schema, right.schema)
    return replace(plan, left=left.plan, right=right, residual=residual, schema=schema)


def _or_never(arrival: Expression) -> Expression:
    """0 beside NULLs."""
    if not arrival.nullable:
        return arrival
    return Call("coalesce", (arrival, _NEVER), arrival.type, nullable=False)
