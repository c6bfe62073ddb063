"""Where a function of the user's stands in a circuit, it is found."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TEXT = """
CREATE FUNCTION doubled (n INT) RETURNS INT LANGUAGE PYTHON AS $$ return 2 * n $$;
CREATE AGGREGATE FUNCTION middle (n INT) RETURNS INT LANGUAGE PYTHON AS $$ return sorted(n)[len(n) // 2] $$;
CREATE TABLE t (k INT, n INT);
CREATE TABLE u (k INT, m INT);
CREATE VIEW v AS {};
"""
CALLING = {
    "a projection": "SELECT doubled(n) AS d FROM t",
    "within an expression": "SELECT CASE WHEN n > 0 THEN 1 + doubled(n + 1) ELSE 0 END AS d FROM t",
    "a condition": "SELECT n FROM t WHERE doubled(n) > 3",
    "a join's condition": "SELECT n FROM t JOIN u ON t.k = u.k AND doubled(t.n) > u.m",
    "an aggregate": "SELECT k, middle(n) AS m FROM t GROUP BY k",
    "an aggregate's argument": "SELECT k, sum(doubled(n)) AS m FROM t GROUP BY k",
    "a window": "SELECT k, sum(doubled(n)) OVER (PARTITION BY k) AS m FROM t",
}


@pytest.mark.parametrize("query", CALLING.values(), ids=CALLING)
def test_wherever_it_stands(spark: Any, query: str) -> None:
    assert compile_program(TEXT.format(query), session=spark).circuit.calls_python


def test_functions_that_are_not_called_do_not_count(spark: Any) -> None:
    query = "SELECT k, abs(sum(n)) AS n FROM t WHERE n > 3 GROUP BY k"
    assert not compile_program(TEXT.format(query), session=spark).circuit.calls_python
