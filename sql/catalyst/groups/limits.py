"""LIMIT and OFFSET: the first rows of the whole relation, in the order of the ORDER BY below.

    SELECT e… ORDER BY o LIMIT n OFFSET m   =   π[e…](σ[m < row_number](top[; row_number; m + n](a by o)))

Without an ORDER BY any n rows will do: the first by their values, so that the same ones are taken again.
A correlated ORDER BY … LIMIT is a row_number() of Catalyst's own; there too the order stands below.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.sql.catalyst.groups.time_windows import windows_of, with_windows
from dbsp.sql.catalyst.groups.windows import sort_orders
from dbsp.sql.catalyst.joins.scalars import with_scalars
from dbsp.sql.catalyst.reading.expressions import expression
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.catalyst.reading.relation import Relation
from dbsp.sql.plans.calls import SortOrder, WindowCall
from dbsp.sql.plans.nodes import Filter, Project, Top, Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field

Translate = Callable[[Query, Node], Relation]
_HIDDEN = -2  # the id of a column that only orders
_WRAPPERS = ("LocalLimit", "SubqueryAlias", "View")


def ordered(query: Query, node: Node, plan: Translate) -> tuple[Relation, tuple[SortOrder, ...]]:
    """The node's relation, and the order of the Sort it is made of: over its columns, some of them hidden."""
    if node["op"] == "Sort":
        below = plan(query, node["k"][0])
        return below, sort_orders(query, node["o"]["order"], below.position)
    if node["op"] in _WRAPPERS:
        return ordered(query, node["k"][0], plan)
    if node["op"] == "Project":
        below, order = ordered(query, node["k"][0], plan)
        return (_project(query, node, below, order, plan)) if order else (plan(query, node), ())
    return plan(query, node), ()


def _project(
    query: Query, node: Node, below: Relation, order: tuple[SortOrder, ...], plan: Translate
) -> tuple[Relation, tuple[SortOrder, ...]]:
    """The Project, with what it is ordered by as further columns."""
    below = with_scalars(query, node["o"], below, plan)
    listed = tuple(expression(query, item, below.position) for item in node["o"]["projectList"])
    fields = [Field(name, query.column_type(node, type_), null) for name, _, type_, null, _ in node["out"]]
    ids = [id_ for _, id_, _, _, _ in node["out"]]
    hidden = [by.expression for by in order]
    fields += [Field(f"order{i}", e.type, e.nullable) for i, e in enumerate(hidden)]
    moved = tuple(
        SortOrder(
            Column(len(listed) + i, by.expression.type, by.expression.nullable), by.descending, by.nulls_last
        )
        for i, by in enumerate(order)
    )
    expressions = (*listed, *hidden)
    schema = with_windows(tuple(fields), windows_of(expressions, below.plan.schema))
    projected = Project(below.plan, expressions, schema)
    return Relation(projected, (*ids, *(_HIDDEN for _ in hidden))), moved


def limit(query: Query, node: Node, plan: Translate) -> Relation:
    """node: a GlobalLimit, or an Offset without one."""
    size = _constant(query, node, "limitExpr", "LIMIT") if node["op"] == "GlobalLimit" else None
    inner = node
    for name in ("GlobalLimit", "LocalLimit"):
        inner = inner["k"][0] if inner["op"] == name else inner
    skipped = 0
    if inner["op"] == "Offset":
        skipped = _constant(query, inner, "offsetExpr", "OFFSET")
        inner = inner["k"][0]
    below, order = ordered(query, inner, plan)
    order = order or (SortOrder(Column(0, below.plan.schema[0].type, below.plan.schema[0].nullable)),)
    found = _first(below.plan, order, size, skipped)
    kept = [i for i, id_ in enumerate(below.ids) if id_ != _HIDDEN]
    columns = tuple(Column(i, below.plan.schema[i].type, below.plan.schema[i].nullable) for i in kept)
    schema = tuple(below.plan.schema[i] for i in kept)
    return Relation(Project(found, columns, schema), tuple(below.ids[i] for i in kept))


def _first(below: Plan, order: tuple[SortOrder, ...], size: int | None, skipped: int) -> Plan:
    if size is not None and not skipped:
        return Top(below, (), order, "row_number", size, False, below.schema)
    rank = Field("row_number", pa.int32(), nullable=False)
    schema = (*below.schema, rank)
    if size is None:
        call = WindowCall("row_number", (), rank.type, False, order)
        numbered: Plan = Window(below, (), (call,), schema)
    else:
        numbered = Top(below, (), order, "row_number", size + skipped, True, schema)
    number: Expression = Column(len(below.schema), rank.type, False)
    beyond = Call("greater_than", (number, Literal(skipped, rank.type)), pa.bool_(), False)
    return Filter(numbered, beyond)


def _constant(query: Query, node: Node, name: str, keyword: str) -> int:
    value = node["o"][name].get("v")
    if not isinstance(value, int):
        raise query.refuse(node, f"a {keyword} that is no constant", keyword)
    return value
