"""Joins of every kind, by DuckDB: their keys are taken out of the condition, wherever they stand in it."""

from __future__ import annotations

import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.plans.nodes import Join
from dbsp.sql.plans.shown.spelling import spell
from tests.sql.recorded import check_refused, check_rows, nodes_of, plan_of


@pytest.mark.parametrize(
    "query",
    [
        "SELECT t.a, u.b FROM t JOIN u ON t.a = u.a AND t.b < u.b",
        "SELECT t.*, u.d AS e FROM t LEFT JOIN u ON t.a = u.a AND u.b > 0",
        "SELECT t.b AS e, u.* FROM t RIGHT JOIN u ON t.a = u.a AND t.b > 0",
        "SELECT t.a, t.c, u.b, u.d FROM t FULL JOIN u ON t.a = u.a AND t.b = u.b",
        "SELECT t.a, u.c FROM t CROSS JOIN u",
        "SELECT t.a FROM t, u WHERE u.c = t.b AND t.a IS NOT DISTINCT FROM u.d",
        "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.b < t.b)",
        "SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
        "SELECT a FROM t WHERE d > 1 OR EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
        "SELECT x.a, y.b, z.c FROM t x JOIN t y ON x.a = y.a LEFT JOIN u z ON z.b = y.b AND z.c = x.c",
        "SELECT a, t.b, u.b AS e FROM t JOIN u USING (a)",
    ],
)
def test_rows(query: str) -> None:
    check_rows(query)


def test_keys_stand_on_either_side_of_an_equality() -> None:
    join = plan_of(
        "SELECT t.d, u.d AS e FROM t JOIN u ON u.a + 1 = t.b AND t.a <=> u.c AND t.c + u.b = 3"
    ).inputs[0]
    assert isinstance(join, Join)
    assert [spell(key, join.right.schema) for key in join.right_keys] == ["a + 1", "c"]
    assert [spell(key, join.left.schema) for key in join.left_keys] == ["b", "a"]
    assert join.null_safe == (False, True)
    assert join.residual is not None


def test_keys_of_doubles_are_equal_if_their_values_are() -> None:
    (join,) = nodes_of(plan_of("SELECT l.k FROM e l JOIN e r ON l.x = r.x"), Join)
    assert [key.function for key in join.left_keys] == ["normalize_na_n_and_zero"]
    assert not isinstance(join.right_keys[0], Column)


def test_refused() -> None:
    query = "SELECT t.a, (SELECT u.b FROM u WHERE u.a < t.a) AS s FROM t"
    check_refused(query, "38: not supported yet: a scalar subquery correlated by more than equalities")
