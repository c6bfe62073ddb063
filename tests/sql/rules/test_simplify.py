"""Shorter expressions of the same value."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression
from dbsp.sql.plans.nodes import Filter, Project
from dbsp.sql.plans.schemas import Field
from dbsp.sql.rules.merge_projects import merge_projects
from dbsp.sql.rules.simplify import simplify
from tests.sql.hand_made import BOOL, T, assert_same_rows, call, column, literal, positive, project

PARTS = pa.struct([("p", column(0).type), ("q", column(0).type)])
REST = call("remainder", column(0), literal(10))


def simplified(expression: Expression) -> Expression:
    plan = simplify(project(T, expression))
    assert isinstance(plan, Project)
    return plan.expressions[0]


def field(struct: Expression, ordinal: int) -> Call:
    return Call("get_struct_field", (struct,), column(0).type, True, (("ordinal", ordinal),))


def aligned(rest: Expression, divisor: int = 10) -> Call:
    negative = call("less_than", rest, literal(0), type_=BOOL)
    return call("case_when", negative, call("add", rest, literal(divisor)), rest)


def test_nothing_is_added() -> None:
    for function in ("add", "subtract"):
        assert simplified(call(function, column(1), literal(0))) == column(1)
        assert simplified(call(function, column(1), literal(1))) == call(function, column(1), literal(1))
    nested = call("add", call("subtract", column(1), literal(0)), literal(0))
    assert simplified(call("multiply", nested, nested)) == call("multiply", column(1), column(1))
    assert simplified(call("subtract", literal(0), column(1))) == call("subtract", literal(0), column(1))


def test_a_sum_of_another_type_is_no_column() -> None:
    wider = Call("add", (Column(0, pa.int32()), literal(0)), pa.int64())
    below = Project(T, (call("cast", column(0), type_=pa.int32()),), (Field("x", pa.int32()),))
    plan = simplify(project(below, wider))
    assert isinstance(plan, Project)
    assert plan.expressions == (wider,)


def test_a_window_is_a_positive_remainder() -> None:
    rest = call("remainder", call("subtract", column(0), literal(0)), literal(10))
    assert simplified(aligned(rest)) == call("pmod", *REST.arguments)


def test_what_only_looks_like_one_is_kept() -> None:
    other_sign = call("case_when", positive(0), call("add", REST, literal(10)), REST)
    other_column = call(
        "case_when", call("less_than", column(1), literal(0), type_=BOOL), *aligned(REST).arguments[1:]
    )
    zero = call("remainder", column(0), literal(0))
    below_zero = call("remainder", column(0), literal(-10))
    column_wide = call("remainder", column(0), column(1))
    for kept in (
        other_sign,
        other_column,
        aligned(REST, 9),
        aligned(zero),
        aligned(below_zero),
        aligned(column_wide),
    ):
        assert simplified(kept) == kept


def test_a_field_of_a_struct_that_is_made_is_what_it_was_made_of() -> None:
    made = call("create_named_struct", literal(0), column(1), literal(0), column(2), type_=PARTS)
    assert [simplified(field(made, i)) for i in range(2)] == [column(1), column(2)]
    assert simplified(field(Column(0, PARTS), 1)) == field(Column(0, PARTS), 1)
    fields = [field(Column(0, PARTS), i) for i in range(2)]
    assert simplify(merge_projects(project(project(T, made), *fields))) == project(T, column(1), column(2))


def test_every_expression_of_a_plan_is_looked_at() -> None:
    zero = call("add", column(0), literal(0))
    condition = call("greater_than", zero, literal(0), type_=BOOL)
    assert simplify(project(Filter(T, condition), zero)) == project(Filter(T, positive(0)), column(0))


def test_rows_stay_the_same() -> None:
    narrow = call("remainder", column(0), literal(2))
    plan = project(T, aligned(narrow, 2), call("subtract", column(1), literal(0)), names="wx")
    assert simplify(plan) != plan
    assert_same_rows(plan, simplify(plan))
