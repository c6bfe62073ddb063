"""Functions of all values of a group: what of them is an argument, and what an option."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate
from tests.sql.recorded import check_refused, check_rows, nodes_of, plan_of


def call_of(function: str) -> AggregateCall:
    (group,) = nodes_of(plan_of(f"SELECT {function} AS r FROM e"), Aggregate)
    (found,) = group.aggregates
    assert isinstance(found, AggregateCall)
    return found


@pytest.mark.parametrize(
    ("function", "name", "options"),
    [
        ("collect_list(k)", "collect_list", {}),
        ("collect_set(x)", "collect_set", {}),
        ("listagg(s)", "listagg", {"delimiter": ""}),
        ("listagg(s, '; ')", "listagg", {"delimiter": "; "}),
        ("percentile(k, 0.25)", "percentile", {"percentages": (0.25,), "many": False}),
        ("percentile(k, array(0.25, 0.5))", "percentile", {"percentages": (0.25, 0.5), "many": True}),
        ("median(k)", "percentile", {"percentages": (0.5,)}),
        ("percentile_cont(0.5) WITHIN GROUP (ORDER BY k DESC)", "percentile", {"descending": True}),
        ("percentile_disc(0.5) WITHIN GROUP (ORDER BY k)", "percentile_disc", {"percentages": (0.5,)}),
        ("approx_percentile(k, 0.5, 50)", "approx_percentile", {"accuracy": 50}),
        ("mode(k)", "mode", {}),
        ("any_value(k)", "any_value", {}),
    ],
)
def test_options(function: str, name: str, options: dict[str, object]) -> None:
    found = call_of(function)
    assert found.function == name
    for option, value in options.items():
        assert found.option(option, False if value is False else None) == value, option


def test_a_list_in_an_order_of_its_own_reads_it() -> None:
    found = call_of("listagg(s, '-') WITHIN GROUP (ORDER BY k DESC, s)")
    assert len(found.arguments) == 2
    assert found.option("order") == ((1, True, True), (0, False, False))


def test_sets_of_doubles_are_by_value() -> None:
    (argument,) = call_of("collect_set(x)").arguments
    assert str(argument).startswith("normalize_na_n_and_zero")


def test_rows() -> None:
    check_rows("SELECT a, median(b) AS m, max_by(c, d) FILTER (WHERE c > 5) AS x FROM t GROUP BY a")


def test_refused() -> None:
    query = "SELECT approx_count_distinct(k, 0.2) AS r FROM e"
    check_refused(
        query, "8: not supported yet: approx_count_distinct with a deviation of 0.2, other than 0.05"
    )
