"""Plans of Catalyst as ours: relations by DuckDB, and what is refused by its word."""

from __future__ import annotations

from collections import Counter

import pytest

from dbsp.sql.plans.nodes import Distinct, Project, Values
from tests.sql.hand_made import random_bags, rows_of
from tests.sql.recorded import check_refused, check_rows, nodes_of, plan_of


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a AS x, b + c AS y FROM t WHERE d > 0",
        "SELECT a FROM t UNION ALL SELECT b FROM u",
        "SELECT a, b FROM t UNION SELECT c, d FROM u",
        "SELECT a, b FROM t INTERSECT SELECT c, d FROM u",
        "SELECT a FROM t EXCEPT ALL SELECT b FROM u",
        "SELECT DISTINCT a, c FROM t",
        "WITH q AS (SELECT a, b FROM t WHERE a > 0) SELECT x.a, y.b FROM q x JOIN q y ON x.a = y.b",
        "SELECT q.n FROM (SELECT count(*) AS n FROM t) q CROSS JOIN (SELECT 1 AS one) r",
        "SELECT * FROM t WHERE (a, b) IN (SELECT c, d FROM u)",
        "SELECT x FROM (SELECT a AS x FROM t ORDER BY b) q",
    ],
)
def test_rows(query: str) -> None:
    check_rows(query)


def test_constant_rows() -> None:
    plan = plan_of("SELECT * FROM VALUES (1, 'x'), (NULL, 'y') AS q(n, s)")
    assert isinstance(plan, Values)
    assert [tuple(cell.value for cell in row) for row in plan.rows] == [(1, "x"), (None, "y")]  # type: ignore[union-attr]


def test_rows_without_columns_are_counted_all_the_same() -> None:
    bags = random_bags(0)
    assert rows_of(plan_of("SELECT 1 AS one FROM t"), bags) == Counter({(1,): len(bags["t"])})
    check_rows("SELECT count(*) AS n FROM t, u")


def test_doubles_are_one_by_value() -> None:
    (distinct,) = nodes_of(plan_of("SELECT DISTINCT x FROM e"), Distinct)
    assert isinstance(distinct.input, Project)
    assert [e.function for e in distinct.input.expressions] == ["normalize_na_n_and_zero"]


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT a FROM t TABLESAMPLE (10 PERCENT)", "17: not supported yet: TABLESAMPLE"),
    ],
)
def test_refused(query: str, error: str) -> None:
    check_refused(query, error)
