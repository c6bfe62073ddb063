"""Generators, in every spelling, against Spark and through the other laws."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.programs import Column, Program, View, table
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

PLAIN = table("e", "k BIGINT, i INT, h INT, s STRING, a ARRAY<INT>")
EVENTS = type(PLAIN)("e", (*PLAIN.columns, Column("o", "STRUCT<x: INT, y: STRING>")))
# strings that are documents, or nearly so
DOCUMENTS = """CASE WHEN i > 0 THEN concat('{"a": ', coalesce(s, '"x"'), ', "b": [1, ', i, '], "a": null}')
                    WHEN h > 0 THEN concat('{"b": "', s, '", "a": {"b": 1.50}}') ELSE s END"""

# fmt: off
# ruff: noqa: E501  a query a line
QUERIES = {
    "explode": "SELECT k, x FROM e LATERAL VIEW explode(a) AS x; SELECT x, count(*) AS n FROM v GROUP BY x",
    "posexplode": "SELECT k, posexplode(a) FROM e; SELECT k, i, posexplode_outer(a) FROM e; SELECT e.k, q.p, q.x FROM e, LATERAL posexplode_outer(a) q(p, x)",
    "inline": "SELECT k, inline(array(struct(i, s), CAST(NULL AS STRUCT<i: INT, s: STRING>))) FROM e; SELECT k, inline_outer(array(o)) FROM e",
    "stack": "SELECT k, stack(2, i, s, i + 1) FROM e; SELECT k, stack(3, i, s, i + 1, 'x') AS (p, q) FROM e",
    "json_tuple": "SELECT k, x, y FROM e LATERAL VIEW json_tuple(j, 'a', 'b') AS x, y; SELECT y, count(x) AS n FROM v GROUP BY y",
    "json_tuple of columns": "SELECT k, json_tuple(j, s, 'a', s) AS (x, y, z) FROM e; SELECT e.k, u.c0 FROM e, LATERAL json_tuple(e.j, e.s) u",
    "LATERAL": "SELECT k, u.col FROM e, LATERAL explode(a) u; SELECT e.k, u FROM e, LATERAL unnest(a) AS t(u)",
    "two after one another": "SELECT x, y, count(*) AS n FROM e LATERAL VIEW explode(a) AS x LATERAL VIEW OUTER explode(array(i, h)) t AS y GROUP BY x, y",
    "constants": "SELECT * FROM explode(array(1, 2)); SELECT e.k FROM e JOIN v ON e.k = v.col",
    "the list beside its elements": "SELECT k, a, x FROM e LATERAL VIEW OUTER explode(a) AS x; SELECT k, explode(array(o)) AS r FROM e",
    "lists of lists": "SELECT k, explode(array(a, a)) AS r FROM e; SELECT k, x FROM v LATERAL VIEW explode(r) AS x",
}
# fmt: on


@pytest.mark.parametrize("name", QUERIES)
def test_laws(spark: Any, name: str) -> None:
    views = zip("vw", QUERIES[name].split("; "), strict=False)
    queries = [
        (view, query.replace("(j,", f"({DOCUMENTS},").replace("(e.j,", f"({DOCUMENTS},"))
        for view, query in views
    ]
    program = Program((EVENTS,), tuple(View(view, query, None) for view, query in queries))
    case, run = Case.of(program, spark), seeded_run(len(name), program, steps=2, most=10)
    laws.incremental_equals_batch(case, run, Spark(spark))
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)
    laws.empty_gives_empty(case, run)
