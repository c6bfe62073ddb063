"""The order of a query's rows, as far as the rows themselves tell it."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.shown.spelling import spell
from tests.sql.recorded import check_refused, view_of

WORDS = {
    (False, False): "",
    (True, True): " DESC",
    (False, True): " NULLS LAST",
    (True, False): " DESC NULLS FIRST",
}


def order_of(query: str) -> list[str]:
    """Of the view's columns."""
    view = view_of(query)
    return [spell(by.expression, view.schema) + WORDS[by.descending, by.nulls_last] for by in view.order]


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("SELECT a, b FROM t ORDER BY b DESC, a", ["b DESC", "a"]),
        (
            "SELECT a, b FROM t ORDER BY b NULLS LAST, a DESC NULLS FIRST",
            ["b NULLS LAST", "a DESC NULLS FIRST"],
        ),
        ("SELECT a + 1 AS x, b FROM t ORDER BY a + 1", ["x"]),
        ("SELECT a AS x, b AS y FROM t ORDER BY a + b", ["x + y"]),
        ("SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY n DESC", ["n DESC"]),
        ("SELECT a, b FROM t ORDER BY a LIMIT 3", ["a"]),
        ("SELECT a FROM (SELECT a, b FROM t ORDER BY b) q", []),
        ("SELECT a, b FROM t", []),
    ],
)
def test_orders(query: str, order: list[str]) -> None:
    assert order_of(query) == order


def test_what_is_ordered_by_and_not_selected_has_no_place_in_the_rows() -> None:
    check_refused("SELECT a FROM t ORDER BY b", "26: ORDER BY what the query doesn't select")
    check_refused("SELECT a, b FROM t ORDER BY a, c, b", "32: ORDER BY what the query doesn't select")
