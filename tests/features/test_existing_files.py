"""Statements as files for Spark have them: names of schemas, pipelines' tables, expectations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import EvaluationError, ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

ROWS = {"bronze": [(1, "a"), (2, None), (2, "b")], "silver": [(1, "x"), (3, "y")]}
TABLES = """
CREATE SCHEMA IF NOT EXISTS bronze; DROP TABLE IF EXISTS bronze.orders;
CREATE OR REPLACE TABLE bronze.orders (id INT, s TEXT) TBLPROPERTIES ('a' = 'b') CLUSTER BY (id);
USE silver;
CREATE TABLE IF NOT EXISTS orders (id INT, s VARCHAR) COMMENT 'of silver';
"""
# fmt: off
# ruff: noqa: E501  a query a line
QUERIES = {
    "qualified columns": "SELECT bronze.orders.id, orders.s, bronze.orders.s || 'x' AS t FROM bronze.orders",
    "two of one name": "SELECT b.id, b.s, silver.orders.s AS t FROM bronze.orders b LEFT JOIN silver.orders ON b.id = silver.orders.id",
    "the schema in use": "SELECT id, orders.s FROM orders UNION ALL SELECT id, s FROM bronze.orders",
    "sub-queries": "SELECT id FROM bronze.orders o WHERE EXISTS (SELECT 1 FROM silver.orders s WHERE s.id = o.id) OR id > (SELECT max(id) - 2 FROM orders)",
    "common table expressions": "WITH o AS (SELECT * FROM bronze.orders), p AS (WITH q AS (SELECT id FROM silver.orders) SELECT * FROM q) SELECT o.* FROM o JOIN p USING (id)",
    "one of a table's name": "WITH orders AS (SELECT id + 1 AS id FROM bronze.orders) SELECT * FROM orders",
    "in an alias": "SELECT bronze.s FROM silver.orders AS bronze JOIN bronze.orders USING (id)",
}
# fmt: on


@pytest.fixture(scope="module")
def schemas(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Spark's own schemas, with the same rows; silver is in use."""
    session = spark.newSession()
    for schema, rows in ROWS.items():
        place = tmp_path_factory.mktemp(schema)
        session.sql(f"CREATE DATABASE {schema} LOCATION '{place}'")
        values = ", ".join(f"({i}, {'NULL' if s is None else repr(s)})" for i, s in rows)
        session.sql(f"CREATE VIEW {schema}.orders AS SELECT * FROM VALUES {values} AS t(id, s)")
    session.sql("USE silver")
    yield session
    for schema in ROWS:
        session.sql(f"DROP DATABASE {schema} CASCADE")


@pytest.mark.parametrize("name", QUERIES)
def test_names_of_schemas_are_as_in_spark(spark: Any, schemas: Any, name: str) -> None:
    program = compile_program(f"{TABLES} CREATE VIEW v AS {QUERIES[name]}", session=spark)
    with Pipeline(program, runner="inline") as pipeline:
        for schema, rows in ROWS.items():
            pipeline.insert(f"{schema}.orders", rows)
        pipeline.step()
        ours = [tuple(row.values()) for row in pipeline["silver.v"].rows()]
        assert sorted(ours, key=repr) == sorted(map(tuple, schemas.sql(QUERIES[name]).collect()), key=repr)
        for schema, rows in ROWS.items():
            pipeline.delete(f"{schema}.orders", rows)
        pipeline.step()
        assert pipeline["silver.v"].rows() == []


PIPELINE = """
CREATE TABLE source (x INT, s TEXT) WITH (append_only = true);
CREATE OR REFRESH STREAMING TABLE events (
  x INT COMMENT 'positive', s,
  CONSTRAINT positive EXPECT (x > 0) ON VIOLATION DROP ROW,
  CONSTRAINT known EXPECT (s <> '?') ON VIOLATION FAIL UPDATE,
  CONSTRAINT short EXPECT (length(s) < 3)
) COMMENT 'a stream' TBLPROPERTIES (quality = 'silver') AS SELECT * FROM STREAM(source);
CREATE OR REFRESH MATERIALIZED VIEW counts AS SELECT s, count(*) AS n FROM LIVE.events GROUP BY s;
CREATE TEMPORARY VIEW most AS SELECT max(n) AS n FROM counts;
"""


def test_a_pipeline_with_expectations(spark: Any) -> None:
    program = compile_program(PIPELINE, "p.sql", session=spark)
    assert [note.split(" is ignored")[0] for note in program.notes] == [
        "p.sql:7:14: expectation 'short'",
        "p.sql:8:22: TBLPROPERTIES",
    ]
    assert program.views["events"].append_only
    with Pipeline(program, runner="inline") as pipeline:
        pipeline.insert("source", [(1, "a"), (0, "b"), (None, "c"), (2, "a"), (3, "long")])
        pipeline.step()
        assert sorted(pipeline["counts"].rows(), key=str) == [{"s": "a", "n": 2}, {"s": "long", "n": 1}]
        assert pipeline["most"].rows() == [{"n": 2}]
        for row in [(1, "?"), (0, "?"), (1, None)]:  # what isn't true isn't met, whatever else is dropped
            pipeline.insert("source", [row])
            with pytest.raises(EvaluationError, match="a row does not meet the expectation known"):
                pipeline.step()
            pipeline.discard()
        assert pipeline.last_step == 1


REFUSED = {
    "CREATE STREAMING TABLE s AS SELECT a FROM t": "1:47: streaming table 's' would take rows back, as its query",
    "CREATE VIEW v AS SELECT * FROM s.u": "1:55: unknown table 's.u'; tables and views so far: t",
    "CREATE VIEW v (CONSTRAINT c EXPECT (b > 0) ON VIOLATION DROP ROW) AS SELECT a FROM t": (
        "1:60: unknown column 'b' in 't'; columns: a"
    ),
    "CREATE MATERIALIZED VIEW v (a BIGINT) AS SELECT a FROM t": (
        "1:54: column 'a' of 'v' is declared BIGINT, its query gives INT; CAST it"
    ),
    "CREATE TABLE o (a INT, __weight BIGINT) USING csv OPTIONS (path 'x') PARTITIONED BY (a); "
    "INSERT INTO o SELECT * FROM t": "1:93: not supported yet: PARTITIONED BY of 'o', which is written",
    **{
        f"SET {setting}": "1:24: SET spark.sql."
        for setting in ("spark.sql.ansi.enabled=false", "spark.sql.session.timeZone = 'Europe/Paris'",
                        "spark.sql.caseSensitive = true", "spark.sql.mapKeyDedupPolicy = LAST_WIN")
    },
}  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED)
def test_what_would_mean_something_else_is_refused(spark: Any, sql: str) -> None:
    text = f"CREATE TABLE t (a INT);{sql}; CREATE VIEW w AS SELECT a FROM t"
    with pytest.raises(ProgramError) as raised:
        compile_program(text, "p.sql", session=spark)
    assert str(raised.value).startswith(f"p.sql:{REFUSED[sql]}")


def test_settings_of_how_to_run_are_ignored(spark: Any) -> None:
    text = (
        "SET spark.sql.shuffle.partitions = 4; SET spark.sql.ansi.enabled = TRUE; SET spark.executor.memory=1g;"
        "SET TIME ZONE 'UTC'; SET spark.sql.adaptive.enabled; CREATE VIEW w AS SELECT 1 AS a"
    )
    program = compile_program(text, "p.sql", session=spark)
    assert [note.split()[2] for note in program.notes] == [
        "spark.sql.shuffle.partitions",
        "spark.executor.memory",
    ]


def test_a_state_directory_keeps_names_with_schemas(spark: Any, tmp_path: Path) -> None:
    text = "CREATE TABLE s.t (a INT); CREATE VIEW s.v AS SELECT a FROM s.t"
    for expected in (1, 2):
        with Pipeline(sql=text, state=tmp_path / "state", spark=spark, runner="inline") as pipeline:
            pipeline.insert("s.t", [(expected,)])
            pipeline.step()
            assert len(pipeline["s.v"].rows()) == expected


def test_an_identity_numbers_rows_as_they_come(spark: Any) -> None:
    program = """
    CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 2), x INT);
    CREATE VIEW v AS SELECT * FROM t;
    """
    with Pipeline(sql=program, spark=spark, runner="inline") as pipeline:
        for number in range(3):
            pipeline.insert("t", [{"x": 3 * number + i} for i in range(3)])
            pipeline.step()
        pipeline.insert("t", [{"x": 9, "id": 7}])
        pipeline.step()
        found = sorted((row["x"], row["id"]) for row in pipeline["v"].rows())
    numbers = [number for x, number in found if x < 9]
    assert numbers == sorted(set(numbers)) and all(number % 2 == 0 and number >= 10 for number in numbers)
    assert found[-1] == (9, 7)
