"""LIMIT and OFFSET: the first rows of an order, by DuckDB."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.nodes import Filter, Top, Window
from tests.sql.recorded import check_refused, check_rows, nodes_of, plan_of

ALL = "a NULLS FIRST, b NULLS FIRST, c NULLS FIRST, d NULLS FIRST"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM t ORDER BY {ALL} LIMIT 4",
        f"SELECT * FROM t ORDER BY {ALL} LIMIT 4 OFFSET 3",
        f"SELECT * FROM t ORDER BY {ALL} OFFSET 5",
        f"SELECT * FROM t ORDER BY b DESC NULLS LAST, {ALL} LIMIT 0",
        f"SELECT c, d FROM t ORDER BY {ALL} LIMIT 6",
        "SELECT b, count(*) AS n FROM (SELECT * FROM t ORDER BY a, b, c, d LIMIT 100) q GROUP BY b",
        f"SELECT q.b, u.c FROM (SELECT * FROM t ORDER BY {ALL} LIMIT 2) q JOIN u ON q.b = u.b",
    ],
)
def test_rows(query: str) -> None:
    check_rows(query)


def test_a_limit_keeps_no_more_than_it_needs() -> None:
    (top,) = nodes_of(plan_of(f"SELECT * FROM t ORDER BY {ALL} LIMIT 4 OFFSET 3"), Top)
    assert (top.size, top.ranked, top.ranking, top.partition) == (7, True, "row_number", ())
    (top,) = nodes_of(plan_of(f"SELECT * FROM t ORDER BY {ALL} LIMIT 4"), Top)
    assert (top.size, top.ranked) == (4, False)
    skipping = plan_of(f"SELECT * FROM t ORDER BY {ALL} OFFSET 5")
    assert nodes_of(skipping, Window) and nodes_of(skipping, Filter)


def test_without_an_order_it_is_the_same_rows_every_time() -> None:
    (top,) = nodes_of(plan_of("SELECT a, b FROM t LIMIT 3"), Top)
    assert [type(by) for by in top.order] == [SortOrder]
    assert top.order[0].expression.index == 0


def test_what_is_ordered_by_need_not_be_selected() -> None:
    plan = plan_of(f"SELECT c, d FROM t ORDER BY {ALL} LIMIT 6")
    assert [field.name for field in plan.schema] == ["c", "d"]
    (top,) = nodes_of(plan, Top)
    assert len(top.order) == 4


def test_a_limit_is_a_constant() -> None:
    check_refused("SELECT a FROM t LIMIT (SELECT 3)", "23: The limit like expression")
