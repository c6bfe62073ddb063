"""Scalar sub-queries: the sub-query becomes a relation of exactly one row, and a column beside every row.

    π[… (SELECT s) …](a) = π[… s …](a ⋈ one(s))      one(s) = π[single_row(#0, #1)](γ[; min(s), count(*)](s))

A global aggregate has one row already. `single_row` raises where the count says that there were several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.catalyst.joins.joins import join
from dbsp.sql.catalyst.joins.single import single, single_row
from dbsp.sql.catalyst.reading.expressions import expression
from dbsp.sql.catalyst.reading.query import Node, Query, nodes_in
from dbsp.sql.catalyst.reading.relation import Relation
from dbsp.sql.plans.nodes import Aggregate, Filter, Join, Project
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, columns_of_schema

_LIMITS = ("GlobalLimit", "LocalLimit")
Translate = Callable[[Query, Node], Relation]


def scalars_in(value: Any) -> Iterator[Node]:
    """The scalar sub-queries of a dumped expression, or of any number of them."""
    return (node for node in nodes_in(value) if node["c"] == "ScalarSubquery")


def with_scalars(query: Query, value: Any, input_: Relation, translate: Translate) -> Relation:
    """The relation with one further column a scalar sub-query of the expressions."""
    for node in scalars_in(value):
        if node["id"] not in input_.position:
            one = one_row(query, node, translate)
            joined = Join(
                input_.plan,
                one,
                "inner",
                (),
                (),
                (),
                None,
                join_schema("inner", input_.plan.schema, one.schema),
            )
            input_ = Relation(joined, (*input_.ids, node["id"]))
    return input_


def met_by_scalars(query: Query, part: Node, input_: Relation, translate: Translate) -> Relation:
    """The rows for which a condition over scalar sub-queries is true, with these as further columns.

    The last of them is joined by the condition, so that one that must be equal to it finds rows by key.
    """
    missing = [node for node in scalars_in(part) if node["id"] not in input_.position]
    if not missing:
        condition = expression(query, part, input_.position)
        return Relation(Filter(input_.plan, condition), input_.ids)
    input_ = with_scalars(query, {"o": missing[:-1]}, input_, translate)
    one = Relation(one_row(query, missing[-1], translate), (missing[-1]["id"],))
    return join(query, {**part, "o": {"joinType": "Inner", "condition": part}}, input_, one)


def first_columns(relation: Relation, width: int) -> Relation:
    """The relation without the columns that only served its condition."""
    schema = relation.plan.schema
    if width == len(schema):
        return relation
    return Relation(
        Project(relation.plan, columns_of_schema(schema)[:width], schema[:width]), relation.ids[:width]
    )


def one_row(query: Query, node: Node, translate: Translate) -> Plan:
    """The sub-query's value as a relation of one row."""
    if node["correlated"]:
        raise query.refuse(node, "a correlated scalar subquery of this shape")
    inner, constant = _without_limit(node["plan"])
    plan = translate(query, inner).plan
    if is_one_row(plan):
        return plan
    grouped = single(query, node, plan, (), (Column(0, plan.schema[0].type, True),))
    value, count = columns_of_schema(grouped.schema)
    name = plan.schema[0].name
    result = value if constant else single_row(value, count)
    return Project(grouped, (result,), (Field(name, value.type, True),))


def is_one_row(plan: Plan) -> bool:
    """Whether the plan has exactly one row, whatever its tables hold."""
    if isinstance(plan, Project):
        return is_one_row(plan.input)
    return isinstance(plan, Aggregate) and not plan.keys


def _without_limit(plan: Node) -> tuple[Node, bool]:
    """(the plan, whether all its rows are alike); without the LIMIT 1 of EXISTS, which selects a constant."""
    inner = plan
    while inner["op"] in _LIMITS:
        inner = inner["k"][0]
    constant = inner["op"] == "Project" and all(_is_literal(e) for e in inner["o"]["projectList"])
    return (inner, True) if constant and inner is not plan else (plan, False)


def _is_literal(node: Node) -> bool:
    return bool(node["c"] == "Literal" or (node["c"] == "Alias" and _is_literal(node["k"][0])))
