"""Generators: rows of elements, by DuckDB's unnest or a union; and those that are refused."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.nodes import Expand, Generate
from tests.sql.recorded import check_rows, nodes_of, plan_of

TWO = "SELECT a, b AS e FROM t UNION ALL SELECT a, c FROM t"
OUTER = (
    "SELECT a, b FROM t WHERE b > 2 UNION ALL SELECT a, c FROM t WHERE c > 2 UNION ALL "
    "SELECT a, NULL FROM t WHERE (b > 2) IS NOT TRUE AND (c > 2) IS NOT TRUE"
)


@pytest.mark.parametrize(
    ("query", "in_duckdb"),
    [
        ("SELECT a, explode(array(b, c)) AS e FROM t", TWO),
        ("SELECT a, e FROM t LATERAL VIEW explode(array(b, c)) q AS e", TWO),
        (
            "SELECT a, posexplode(array(b, c)) AS (p, e) FROM t",
            "SELECT a, 0, b FROM t UNION ALL SELECT a, 1, c FROM t",
        ),
        (
            "SELECT a, stack(2, b, 1, c) AS (e, n) FROM t",
            "SELECT a, b, 1 FROM t UNION ALL SELECT a, c, NULL FROM t",
        ),
        (
            "SELECT a, explode(map(1, b, 2, c)) AS (k, e) FROM t",
            "SELECT a, 1, b FROM t UNION ALL SELECT a, 2, c FROM t",
        ),
        (
            "SELECT a, inline(array(struct(b AS x, c AS y), struct(c AS x, b AS y))) AS (x, y) FROM t",
            "SELECT a, b, c FROM t UNION ALL SELECT a, c, b FROM t",
        ),
        ("SELECT a, e FROM t LATERAL VIEW OUTER explode(filter(array(b, c), x -> x > 2)) q AS e", OUTER),
    ],
)
def test_rows(query: str, in_duckdb: str) -> None:
    check_rows(query, in_duckdb)


def test_a_stack_is_a_projection_a_row() -> None:
    plan = plan_of("SELECT a, stack(2, b, 1, c) AS (e, n) FROM t")
    (expand,) = nodes_of(plan, Expand)
    assert len(expand.projections) == 2
    assert not nodes_of(plan, Generate)


def test_a_list_goes_as_its_elements_come() -> None:
    (generate,) = nodes_of(plan_of("SELECT k, explode(l) AS e FROM e"), Generate)
    assert [generate.input.schema[i].name for i in generate.kept] == ["k"]
    assert (generate.outer, generate.position, generate.fields) == (False, False, False)
