"""Variants inside of a program, against Spark and through the other laws: they join, group, unite and are read."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program
from tests.generators.programs import Program, View, table
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

EVENTS = table("e", "k BIGINT, i INT, h INT, s STRING")
DOCUMENT = """CASE WHEN i > 0 THEN concat('{"a": ', i, ', "b": [1, ', coalesce(h, 7), '], "c": "', k, '"}')
                   WHEN h > 0 THEN concat('{"a": {"b": ', h, '}}') ELSE s END"""
PARSED = f"(SELECT k, i, try_parse_json({DOCUMENT}) AS j FROM e)"

# fmt: off
# ruff: noqa: E501  a query a line
QUERIES = {
    "read": f"SELECT k, j:a::string AS a, try_variant_get(j, '$.b[1]', 'int') AS b, to_json(j) AS t FROM {PARSED}",
    "filtered": f"SELECT k, schema_of_variant(j) AS s FROM {PARSED} WHERE j:b IS NOT NULL OR is_variant_null(j)",
    "joined": f"SELECT l.k, to_json(r.j) AS j, l.j:c::bigint AS c FROM {PARSED} l LEFT JOIN {PARSED} r ON l.k = r.i",
    "grouped": f"SELECT k, count(j) AS n, to_json(max_by(j, i)) AS m FROM (SELECT k, max(i) AS i, max_by(j, i) AS j FROM {PARSED} GROUP BY k) GROUP BY k",
    "by a value inside": f"SELECT try_variant_get(j, '$.a', 'int') AS a, count(*) AS n, sum(k) AS k FROM {PARSED} GROUP BY 1",
    "united": f"SELECT k, to_json(coalesce(j, parse_json('null'))) AS j FROM (SELECT k, j FROM {PARSED} UNION ALL SELECT i, to_variant_object(array(h)) FROM e)",
    "put together": f"SELECT k, to_json(o.x) AS x, to_json(l[0]) AS y FROM (SELECT k, named_struct('x', j) AS o, array(j) AS l FROM {PARSED})",
    "exploded": f"SELECT k, pos, key, to_json(value) AS x FROM {PARSED}, LATERAL variant_explode(j)",
    "exploded outside": f"SELECT e.k, q.pos, q.key, q.value::string AS x FROM e, LATERAL variant_explode_outer(try_parse_json({DOCUMENT})) q",
    "exploded twice": f"SELECT k, a.key, b.pos, count(*) AS n FROM {PARSED}, LATERAL variant_explode(j) a, LATERAL variant_explode(a.value) b GROUP BY 1, 2, 3",
    "changed": f"SELECT k, to_json(try_variant_set(j, '$.a', i)) AS a, to_json(variant_delete(j, '$.b')) AS b FROM {PARSED}",
}
# fmt: on


@pytest.mark.parametrize("name", QUERIES)
def test_laws(spark: Any, name: str) -> None:
    program = Program((EVENTS,), (View("v", QUERIES[name], None),))
    case, run = Case.of(program, spark), seeded_run(len(name), program, steps=2, most=10)
    laws.incremental_equals_batch(case, run, Spark(spark))
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)
    laws.empty_gives_empty(case, run)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("CREATE VIEW v AS SELECT parse_json(s) AS j FROM e", "column 'j' of view 'v' is a VARIANT, which"),
        ("CREATE VIEW v AS SELECT array(parse_json(s)) AS j FROM e", "column 'j' of view 'v' is a VARIANT, which"),
        ("CREATE TABLE t (v VARIANT); CREATE VIEW v AS SELECT s FROM e", r"type variant \(keep its text: declare STRING"),
        ("CREATE LOCAL VIEW l AS SELECT parse_json(s) AS j FROM e; CREATE VIEW v AS SELECT * FROM l", "'j' of view 'v'"),
    ],
)  # fmt: skip
def test_none_leaves_a_program(spark: Any, text: str, why: str) -> None:
    with pytest.raises(ProgramError, match=why):
        compile_program(f"CREATE TABLE e (s STRING); {text};", session=spark)


def test_a_local_view_may_have_one(spark: Any) -> None:
    program = compile_program(
        """
        CREATE TABLE e (s STRING);
        CREATE LOCAL VIEW l AS SELECT parse_json(s) AS j, array(parse_json(s)) AS a FROM e;
        CREATE VIEW v AS SELECT j:a::int AS a, to_json(a[0]) AS b FROM l;
        """,
        session=spark,
    )
    assert [column.name for column in program.views["v"].schema] == ["a", "b"]
