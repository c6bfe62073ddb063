"""Which words are RETURNING's, and what they ask for."""

from __future__ import annotations

import pytest

from dbsp.serving.postgres.language.returning import split_returning
from dbsp.serving.postgres.language.spelling import spark_text, statements


@pytest.mark.parametrize(
    ("said", "statement", "columns", "select"),
    [
        ("INSERT INTO t VALUES (1) RETURNING *", "INSERT INTO t VALUES (1)", [], "SELECT * FROM `t` AS `t`"),
        (
            'DELETE FROM public.t returning "A", t.b',
            "DELETE FROM t",
            ["a", "b"],
            "SELECT `A`, t.b FROM `t` AS `t`",
        ),
        (
            "UPDATE t AS x SET a = 1 RETURNING x.a",
            "UPDATE t AS x SET a = 1",
            ["a"],
            "SELECT x.a FROM `t` AS `x`",
        ),
        (
            "UPDATE t x SET a = 1 RETURNING a + 1",
            "UPDATE t x SET a = 1",
            None,
            "SELECT a + 1 FROM `t` AS `x`",
        ),
        (
            "DELETE FROM s.t WHERE a = 1 RETURNING a b",
            "DELETE FROM s.t WHERE a = 1",
            None,
            "SELECT a b FROM `s`.`t` AS `t`",
        ),
        (
            "DELETE FROM t WHERE a = 'x' RETURNING y.a",
            "DELETE FROM t WHERE a = 'x'",
            None,
            "SELECT y.a FROM `t` AS `t`",
        ),
        (
            "INSERT INTO t VALUES (1) RETURNING a,",
            "INSERT INTO t VALUES (1)",
            None,
            "SELECT a, FROM `t` AS `t`",
        ),
        (
            'DELETE FROM "t`t" AS "x`x" RETURNING a',
            "DELETE FROM `t``t` AS `x``x`",
            ["a"],
            "SELECT a FROM `t``t` AS `x``x`",
        ),
    ],
)
def test_returned(said: str, statement: str, columns: list[str] | None, select: str) -> None:
    words, returning = split_returning(statements(said)[0])
    assert returning is not None
    assert (spark_text(words), returning.columns, returning.select()) == (statement, columns, select)


@pytest.mark.parametrize(
    "said",
    [
        "SELECT returning FROM t",
        "INSERT INTO t SELECT (returning) FROM s",
        "DELETE FROM t RETURNING",
        "UPDATE t SET a = 'RETURNING x'",
    ],
)
def test_nothing_is_returned(said: str) -> None:
    words = statements(said)[0]
    assert split_returning(words) == (words, None)


@pytest.mark.parametrize(
    ("listed", "asks"),
    [
        ("(SELECT 1)", True),
        ("(VALUES (1))", True),
        ("a, (values 1, 2) AS b", True),
        ("(TABLE latest)", True),
        ("((/* all */ Table latest))", True),
        ("EXISTS (TABLE latest)", True),
        ("a IN (VALUES (1))", True),
        ("(WITH w AS (VALUES 1) TABLE w)", True),
        ("(VALUES +1)", True),
        ("values, t.table", False),
        ("values + 1, (a + values)", False),
        ("upper(values), coalesce(table, values), (values.a), (values[0]), (values::text)", False),
        ("(\"values\" + 1), (`table` || '(VALUES 1)')", False),
        ("(a + 1) * 2", False),
    ],
)
def test_whether_it_asks_others(listed: str, asks: bool) -> None:
    returning = split_returning(statements(f"DELETE FROM t RETURNING {listed}")[0])[1]
    assert returning is not None and returning.asks_others == asks
