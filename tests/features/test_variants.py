"""Variants, in a program and on its way in and out, against Spark and through the other laws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import VariantVal

from dbsp.circuits.columns.variants.parsed import parsed
from dbsp.circuits.errors import DataError, ProgramError
from dbsp.pipeline.pipeline import Pipeline
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


COLUMNS = table("c", "k BIGINT, v VARIANT, l ARRAY<INT>")
KEYED = table("y", "k BIGINT NOT NULL, v VARIANT", key=("k",))
# fmt: off
SEEN = {
    "as it is": "SELECT * FROM c; SELECT k, v AS x, to_variant_object(l) AS y FROM c",
    "of what is in it": "SELECT k, v:a AS a, v:b[0]::STRING AS b FROM c WHERE v:a IS NOT NULL; SELECT parse_json(to_json(v)) AS v FROM c",
    "inside of others": "SELECT k, array(v, v:a) AS l, named_struct('v', v, 'k', k) AS s FROM c; SELECT k, element AS e FROM (SELECT k, explode(l) AS element FROM v)",
    "joined": "SELECT c.k, c.v AS mine, y.v AS other FROM c LEFT JOIN y ON c.k = y.k; SELECT k, count(v) AS n, max_by(v, k) AS m FROM y GROUP BY k",
    "united": "SELECT v FROM c UNION ALL SELECT v FROM y; SELECT k, lag(v) OVER (PARTITION BY k ORDER BY k) IS NULL AS b FROM y",
}
# fmt: on


@pytest.mark.parametrize("name", SEEN)
def test_columns_of_tables_and_of_views_that_are_seen(spark: Any, name: str) -> None:
    views = tuple(View(v, query, None) for v, query in zip("vw", SEEN[name].split("; "), strict=True))
    program = Program((COLUMNS, KEYED), views)
    case, run = Case.of(program, spark), seeded_run(len(name), program, steps=2, most=10)
    laws.incremental_equals_batch(case, run, Spark(spark))
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("CREATE TABLE x (v VARIANT PRIMARY KEY); CREATE VIEW w AS SELECT 1 AS a", "VARIANT, which can't be in a PRIMARY KEY"),
        ("CREATE TABLE x (v VARIANT LATENESS 1); CREATE VIEW w AS SELECT 1 AS a", "a column of type VARIANT can't have LATENESS"),
        ("CREATE VIEW w AS SELECT v, count(*) AS n FROM t GROUP BY v", "cannot be used as a grouping expression"),
        ("CREATE VIEW w AS SELECT DISTINCT v FROM t", "Cannot have VARIANT type columns in a set operation"),
        ("CREATE VIEW w AS SELECT a.k FROM t a JOIN t b ON a.v = b.v", "does not support ordering on type"),
        ("CREATE VIEW w AS SELECT k, count(DISTINCT v) AS n FROM t GROUP BY k", "of which Spark tells no two apart"),
        ("CREATE VIEW w AS SELECT max(v) AS m FROM t", "does not support ordering on type"),
        ("CREATE VIEW w AS SELECT v FROM t; CREATE TABLE o (v VARIANT) USING orc OPTIONS (path 'x'); INSERT INTO o SELECT v FROM w", "orc has no such values"),
        ("CREATE VIEW w AS SELECT v FROM t; CREATE TABLE o (v VARIANT) USING csv OPTIONS (path 'x'); INSERT INTO o SELECT v FROM w", "is VARIANT: csv has no such values"),
        ("CREATE TABLE s (k INT, v VARIANT) USING orc OPTIONS (path 'x'); CREATE VIEW w AS SELECT 1 AS a", "orc has no such values; declare STRING, and use parse_json"),
        ("CREATE VIEW w AS SELECT k, v FROM t; CREATE TABLE o (k INT PRIMARY KEY, v VARIANT) USING duckdb OPTIONS (path 'x', dbtable 'o'); INSERT INTO o SELECT k, v FROM w", "duckdb is given no such values"),
    ],
)  # fmt: skip
def test_refused(spark: Any, text: str, why: str) -> None:
    with pytest.raises(ProgramError, match=why):
        compile_program(
            f"CREATE TABLE t (k INT, v VARIANT) WITH (append_only = true); {text};", session=spark
        )


def test_files_read_and_written_are_sparks(spark: Any, tmp_path: Path) -> None:
    """NULL is a field that isn't there, and JSON's null a value, on both sides."""
    (tmp_path / "in").mkdir()
    lines = ['{"k":1,"v":{"a":7,"b":[1.5,"x"]}}', '{"k":2}', '{"k":3,"v":null}', '{"k":4,"v":"text"}']
    (tmp_path / "in" / "a.json").write_text("\n".join(lines))
    program = f"""
        CREATE TABLE t (k BIGINT, v VARIANT) USING json OPTIONS (path '{tmp_path}/in') WITH (append_only = true);
        CREATE VIEW w AS SELECT k, v, v:a::INT AS a FROM t;
        CREATE TABLE p (k BIGINT, v VARIANT) USING parquet OPTIONS (path '{tmp_path}/parquet');
        CREATE TABLE j (k BIGINT, v VARIANT) USING json OPTIONS (path '{tmp_path}/json');
        INSERT INTO p SELECT k, v FROM w;
        INSERT INTO j SELECT k, v FROM w;
    """
    with Pipeline(sql=program, state=tmp_path / "state", spark=spark) as pipeline:
        pipeline.run(once=True)
        assert [row["a"] for row in sorted(pipeline["w"].rows(), key=lambda row: row["k"])] == [
            7,
            None,
            None,
            None,
        ]
    written = sorted(
        line for file in (tmp_path / "json").rglob("part*.json") for line in file.read_text().split()
    )
    assert written == lines
    known = spark.read.schema("k BIGINT, v VARIANT").json(str(tmp_path / "in"))
    found = spark.read.parquet(str(tmp_path / "parquet" / "*"))
    told = ["k", "v IS NULL", "to_json(v)", "schema_of_variant(v)"]
    assert found.orderBy("k").selectExpr(*told).collect() == known.orderBy("k").selectExpr(*told).collect()


def test_rows_of_python(spark: Any) -> None:
    """As Arrow has them, as Spark's own values, as a DataFrame; and taken back by what was read."""
    one = parsed('{"a": 5}')
    with Pipeline(
        sql="CREATE TABLE t (k BIGINT, v VARIANT); CREATE VIEW w AS SELECT k, v FROM t;", spark=spark
    ) as p:
        p.insert("t", [{"k": 1, "v": one._asdict()}, {"k": 2, "v": VariantVal(*one)}, {"k": 3, "v": None}])
        p.insert("t", spark.sql("SELECT 4L AS k, parse_json('{\"a\": 5}') AS v UNION ALL SELECT 5L, NULL"))
        p.step()
        rows = p["w"].to_arrow().sort_by("k")
        assert rows.column("v").to_pylist() == [one._asdict(), one._asdict(), None, one._asdict(), None]
        texts = p["w"].to_spark().orderBy("k").selectExpr("to_json(v)").collect()
        assert [text[0] for text in texts] == ['{"a":5}', '{"a":5}', None, '{"a":5}', None]
        p.delete("t", rows)
        p.step()
        assert p["w"].rows() == []
        with pytest.raises(
            DataError, match="give a VariantVal of Spark's, or a dict of its value and metadata, not str"
        ):
            p.insert("t", [{"k": 1, "v": "x"}])


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
