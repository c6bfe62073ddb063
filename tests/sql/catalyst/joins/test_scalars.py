"""Scalar sub-queries: a column beside every row, by DuckDB; and an error where one has several rows."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import DataError
from dbsp.sql.catalyst.joins.scalars import is_one_row
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Join, Project
from tests.sql.hand_made import INT, T, column, rows_of, schema
from tests.sql.recorded import check_refused, check_rows, nodes_of, plan_of


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a, (SELECT max(b) FROM u) AS m FROM t",
        "SELECT a FROM t WHERE b = (SELECT min(b) FROM u)",
        "SELECT a FROM t WHERE b < (SELECT max(b) FROM u) AND c > 0 AND d > (SELECT min(d) FROM u)",
        "SELECT a, (SELECT count(*) FROM u WHERE u.a = t.a) AS n FROM t",
        "SELECT a, (SELECT max(u.b) FROM u WHERE u.a = t.a AND u.c > 0) AS m FROM t",
        "SELECT a, sum(b) + (SELECT max(b) FROM u) AS s FROM t GROUP BY a",
        "SELECT t.a, u.b FROM t LEFT JOIN u ON t.a = u.a AND t.b < (SELECT max(c) FROM u)",
        "SELECT a FROM t WHERE (SELECT count(*) FROM u) > 3",
        "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.b > 100)",
    ],
)
def test_rows(query: str) -> None:
    check_rows(query)


def test_a_row_is_found_by_what_must_equal_the_subquery() -> None:
    (join,) = nodes_of(plan_of("SELECT a FROM t WHERE b = (SELECT min(b) FROM u)"), Join)
    assert len(join.left_keys) == 1


def test_a_subquery_used_twice_is_read_once() -> None:
    query = "SELECT a + (SELECT max(b) FROM u) AS x, c - (SELECT max(b) FROM u) AS y FROM t"
    assert len({*nodes_of(plan_of(query), Aggregate)}) == 1
    check_rows(query)


def test_several_rows_are_an_error_and_none_are_null() -> None:
    plan = plan_of("SELECT a, (SELECT b FROM u) AS s FROM t")
    assert rows_of(plan, {"t": [(1, 0, 0, 0)], "u": []}) == {(1, None): 1}
    assert rows_of(plan, {"t": [(1, 0, 0, 0)], "u": [(0, 5, 0, 0)]}) == {(1, 5): 1}
    with pytest.raises(DataError, match="More than one row"):
        rows_of(plan, {"t": [(1, 0, 0, 0)], "u": [(0, 5, 0, 0)] * 2})


def test_a_global_aggregate_has_one_row() -> None:
    count = AggregateCall("count", (), INT, False)
    total = Aggregate(T, (), (count,), schema("n"))
    assert is_one_row(Project(total, (column(0),), schema("m")))
    assert not is_one_row(Aggregate(T, (column(0),), (count,), schema("a", "n")))
    assert not is_one_row(T)


def test_refused() -> None:
    check_refused("SELECT a, (SELECT l FROM e) AS s FROM t", "11: not supported yet: a scalar subquery of")
