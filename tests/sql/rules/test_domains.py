"""A correlated sub-query's domain has what the sub-query equates, where that says the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.circuits.expressions.nodes import Expression
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Distinct, Filter, Join, Project
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.rules.domains import domains
from tests.sql.hand_made import (
    BOOL,
    INT,
    T,
    U,
    assert_as_duckdb,
    assert_same_rows,
    call,
    column,
    positive,
    project,
    schema,
)

DOMAIN = Distinct(project(T, column(1)))
EARLIER = call("less_than", column(2), column(0), type_=BOOL)  # u.b < t.b


def pairs(domain: Plan = DOMAIN, residual: Expression = EARLIER) -> Join:
    """The domain of t.b with u."""
    return Join(domain, U, "inner", (), (), (), residual, join_schema("inner", domain.schema, U.schema))


COUNTED = AggregateCall("count", (), INT, False)


def counted(below: Plan) -> Plan:
    """By t.b and u.a."""
    return Aggregate(below, (column(0), column(1)), (COUNTED,), (*schema("b", "a", "n"),))


def asked(
    right: Plan, left: Plan = T, kind: str = "inner", null_safe: tuple[bool, bool] = (True, False)
) -> Join:
    on = join_schema(kind, left.schema, right.schema)
    return Join(left, right, kind, (column(1), column(0)), (column(0), column(1)), null_safe, None, on)


def keys_of_pairs(plan: Plan) -> list[int]:
    """How many columns each join equates."""
    own = [len(plan.left_keys)] if isinstance(plan, Join) else []
    return own + [count for input_ in plan.inputs for count in keys_of_pairs(input_)]


@pytest.mark.parametrize("kind", ["inner", "left", "semi", "anti", "existence"])
def test_what_is_equated_is_in_the_domain(kind: str) -> None:
    before = asked(counted(pairs()), kind=kind)
    plan = domains(before)
    assert keys_of_pairs(before) == [2, 0] and keys_of_pairs(plan) == [2, 1]
    assert_same_rows(before, plan, seeds=3)


def test_it_is_the_sub_query() -> None:
    plan = domains(project(asked(counted(pairs())), column(0), column(1), column(6)))
    text = """
        SELECT t.a, t.b, x.n FROM t, LATERAL (
            SELECT count(*) AS n FROM u WHERE u.a = t.a AND u.b < t.b HAVING count(*) > 0
        ) x
    """
    assert_as_duckdb(plan, text)


@pytest.mark.parametrize(
    "domain",
    [
        pytest.param(Distinct(project(Filter(T, positive(2)), column(1))), id="a filter of its own"),
        pytest.param(Filter(DOMAIN, positive(0)), id="a filter above it"),
        pytest.param(Distinct(project(U, column(1))), id="other rows"),
    ],
)
def test_a_domain_of_other_rows_is_asked_too(domain: Plan) -> None:
    before = asked(counted(pairs(domain)), kind="left")
    plan = domains(before)
    assert keys_of_pairs(plan) == [2, 1, 1]
    assert_same_rows(before, plan, seeds=3)
    strict = asked(counted(pairs(domain)), null_safe=(False, False))
    assert domains(strict) == strict


def test_outer_rows_with_values_of_sub_queries_beside_them() -> None:
    first = asked(counted(pairs()), kind="left")
    second = asked(counted(pairs(Distinct(Project(first, (column(1),), schema("b"))))), first, "left")
    plan = domains(second)
    assert keys_of_pairs(plan) == [2, 2, 1, 1]
    assert_same_rows(second, plan, seeds=2)


FIRST_ONLY = (column(0),)


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(asked(counted(pairs()), kind="full"), id="full"),
        pytest.param(asked(counted(pairs(project(T, column(1))))), id="no domain"),
        pytest.param(
            asked(
                Project(
                    Aggregate(pairs(), FIRST_ONLY, (COUNTED,), schema("b", "n")),
                    (column(0), column(1)),
                    schema("b", "n"),
                )
            ),
            id="a count over all",
        ),
        pytest.param(
            replace(asked(counted(pairs())), left_keys=FIRST_ONLY, right_keys=FIRST_ONLY, null_safe=(True,)),
            id="nothing more",
        ),
    ],
)
def test_what_stays(before: Plan) -> None:
    assert domains(before) == before
