"""GROUP BY: results are expressions over keys and aggregates, by DuckDB."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.nodes import Aggregate, Distinct
from tests.sql.recorded import check_rows, nodes_of, plan_of


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a, count(*) AS n, sum(b) AS s FROM t GROUP BY a",
        "SELECT a + b AS k, a + b + count(c) AS n FROM t GROUP BY a + b",
        "SELECT count(*) AS n, max(a) AS m FROM t WHERE a > 100",
        "SELECT b FROM t GROUP BY b",
        "SELECT a, sum(b) AS s FROM t GROUP BY a HAVING count(*) > 1 AND max(c) > 0",
        "SELECT a, b, sum(c) AS s, grouping(b) AS g FROM t GROUP BY ROLLUP (a, b)",
        "SELECT a, b, count(*) AS n FROM t GROUP BY GROUPING SETS ((a), (b), ())",
        "SELECT a, sum(b) FILTER (WHERE c > 0) AS s, sum(DISTINCT d) AS x FROM t GROUP BY a",
        "SELECT a, avg(b) AS m, min(b) + max(b) AS r FROM t GROUP BY a",
        "SELECT (SELECT max(b) FROM u) AS k, count(*) AS n FROM t GROUP BY 1",
        "SELECT 1 AS one FROM t HAVING count(*) > 3",
    ],
)
def test_rows(query: str) -> None:
    check_rows(query)


def test_groups_without_functions_are_distinct_keys() -> None:
    plan = plan_of("SELECT b FROM t GROUP BY b")
    assert nodes_of(plan, Distinct)
    assert not nodes_of(plan, Aggregate)


def test_equal_functions_are_computed_once() -> None:
    query = "SELECT a, sum(b) + 1 AS x, sum(b) * sum(b) AS y, count(*) AS n FROM t GROUP BY a"
    (group,) = nodes_of(plan_of(query), Aggregate)
    assert [call.function for call in group.aggregates] == ["sum", "count"]
    check_rows(query)


def test_groups_of_doubles_are_by_value() -> None:
    (group,) = nodes_of(plan_of("SELECT x, count(*) AS n FROM e GROUP BY x"), Aggregate)
    (key,) = group.keys
    assert key.function == "normalize_na_n_and_zero"
