"""OVER without ORDER BY: which functions go by arrival, and in which frames."""

from __future__ import annotations

from collections import Counter

import pytest

from dbsp.sql.plans.calls import WindowCall
from dbsp.sql.plans.nodes import Window
from tests.sql.catalyst.arrival.test_first_last import in_order, numbered
from tests.sql.hand_made import rows_of
from tests.sql.recorded import nodes_of, plan_of


def calls_of(query: str) -> list[WindowCall]:
    (window,) = nodes_of(plan_of(query), Window)
    return list(window.calls)


@pytest.mark.parametrize("seed", range(2))
def test_rows(seed: int) -> None:
    """Every row of a partition has what GROUP BY has of it."""
    bag = numbered(seed)
    w = "OVER (PARTITION BY a)"
    query = f"SELECT a, first(b) {w} AS f, last(b) {w} AS l, count(*) {w} AS n FROM t"
    groups = {row: row[3] for row in in_order(bag)}
    assert rows_of(plan_of(query), {"t": bag}) == Counter(groups)


def test_what_goes_by_places() -> None:
    over = "OVER (PARTITION BY a)"
    query = (
        f"SELECT first(b) {over} AS f, collect_list(b) {over} AS l, listagg(CAST(b AS STRING)) {over} AS j,"
        f" listagg(CAST(b AS STRING)) WITHIN GROUP (ORDER BY b) {over} AS k, sum(b) {over} AS s,"
        f" any_value(b) {over} AS v FROM t"
    )
    first, collected, joined, *others = calls_of(query)
    assert len(first.order) == len(collected.order) == len(joined.order) == 1
    assert len(joined.arguments) == 2
    assert all(not call.order for call in others)
    assert plan_of(query).arriving() == {"t"}


@pytest.mark.parametrize(
    ("over", "arrives"),
    [
        ("PARTITION BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", True),
        ("PARTITION BY a ORDER BY c", False),
    ],
)
def test_frames(over: str, arrives: bool) -> None:
    assert bool(plan_of(f"SELECT last(b) OVER ({over}) AS l FROM t").arriving()) == arrives


@pytest.mark.parametrize(
    "query",
    [
        "SELECT any_value(b) OVER (PARTITION BY a) AS v FROM t",
        "SELECT first(b) OVER (PARTITION BY a) AS f FROM (SELECT DISTINCT a, b FROM t) q",
    ],
)
def test_without_an_arrival(query: str) -> None:
    assert plan_of(query).arriving() == frozenset()
    (call,) = calls_of(query)
    assert not call.order
