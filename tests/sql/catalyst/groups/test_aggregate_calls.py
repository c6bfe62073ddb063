"""Catalyst's aggregate functions as calls of ours."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate
from tests.sql.recorded import check_rows, nodes_of, plan_of


def call_of(function: str, relation: str = "t") -> AggregateCall:
    (group,) = nodes_of(plan_of(f"SELECT {function} AS r FROM {relation}"), Aggregate)
    (found,) = group.aggregates
    assert isinstance(found, AggregateCall)
    return found


@pytest.mark.parametrize(
    ("function", "name", "arguments"),
    [
        ("count(*)", "count", 0),
        ("count(a, b)", "count", 2),
        ("avg(a)", "avg", 1),
        ("var_samp(a)", "var_samp", 1),
        ("corr(a, b)", "corr", 2),
        ("bit_xor(a)", "bit_xor", 1),
        ("approx_count_distinct(a)", "approx_count_distinct", 1),
        ("max_by(a, b)", "max_by", 2),
        ("any_value(a)", "any_value", 1),
        ("regr_slope(a, b)", "regr_slope", 2),
    ],
)
def test_functions(function: str, name: str, arguments: int) -> None:
    found = call_of(function)
    assert (found.function, len(found.arguments)) == (name, arguments)


@pytest.mark.parametrize(
    ("function", "distinct"),
    [
        ("sum(DISTINCT a)", True),
        ("count(DISTINCT a, b)", True),
        ("max(DISTINCT a)", False),
        ("sum(a)", False),
    ],
)
def test_distinct_where_it_makes_a_difference(function: str, distinct: bool) -> None:
    assert call_of(function).distinct is distinct


def test_a_filter_and_a_sum_that_may_not_fail() -> None:
    found = call_of("sum(a) FILTER (WHERE b > 0)")
    assert str(found.filter) == "b > 0"
    assert found.option("evalMode") is None
    assert call_of("try_sum(a)").option("evalMode") == "TRY"


def test_doubles_are_counted_by_value() -> None:
    (argument,) = call_of("count(DISTINCT x)", "e").arguments
    assert str(argument).startswith("normalize_na_n_and_zero")


def test_a_pivot_is_a_greatest_value_for_each_of_its_values() -> None:
    query = "SELECT * FROM (SELECT a, b, c FROM t) PIVOT (sum(c) FOR b IN (1, 2))"
    by_hand = "SELECT a, sum(c) FILTER (WHERE b = 1), sum(c) FILTER (WHERE b = 2) FROM t GROUP BY a"
    check_rows(query, by_hand)
