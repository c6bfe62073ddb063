"""TIME columns, against Spark and through the other laws; on their way in and out."""

from __future__ import annotations

from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError, ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from tests.generators.programs import Program, View, table
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

EVENTS = table("e", "k BIGINT, i INT, s STRING, t TIME, u TIME, ts TIMESTAMP, d DATE")
SHIFTS = table("y", "t TIME NOT NULL, k BIGINT", key=("t",))

# fmt: off
# ruff: noqa: E501  a query a line
QUERIES = {
    "as it is": "SELECT * FROM e",
    "grouped": "SELECT t, count(*) AS n, min(u) AS a, max(u) AS b, sort_array(collect_list(u)) AS l, count(DISTINCT u) AS c FROM e GROUP BY t",
    "compared": "SELECT k, t = u AS a, t < u AS b, t <=> u AS c, t IN (TIME'10:00:00', u) AS d, greatest(t, u) AS f, coalesce(t, u) AS g, t = '10:00:00' AS h FROM e",
    "joined by it": "SELECT x.k, y.t, y.k AS other FROM e x LEFT JOIN y ON x.t = y.t",
    "within": "SELECT a.k, b.t FROM e a JOIN e b ON a.t BETWEEN b.t AND b.u",
    "in order": "SELECT k, row_number() OVER (PARTITION BY k ORDER BY t DESC, u, i, s, ts, d) AS n, max(u) OVER (PARTITION BY k ORDER BY t) AS m, t FROM e",
    "the first": "SELECT DISTINCT t, u FROM e ORDER BY t DESC NULLS LAST, u LIMIT 3",
    "as parts": "SELECT k, hour(t) AS h, minute(t) AS m, second(t) AS s, extract(SECOND FROM t) AS x FROM e",
    "cast": "SELECT k, CAST(t AS STRING) AS s, try_cast(s AS TIME) AS q, CAST(t AS TIME(0)) AS z, t::BIGINT AS b, t::DECIMAL(14,6) AS c, ts::TIME AS f FROM e",
    "a coarser one": "SELECT CAST(t AS TIME(3)) AS w, count(*) AS n FROM e GROUP BY 1",
    "functions": "SELECT k, time_trunc('HOUR', t) AS a, time_diff('MINUTE', t, u) AS b, t - u AS c, make_time(10, 5, 7.5) AS m, make_timestamp(d, t) AS f, try_to_time(s) AS g FROM e",
    "written": "SELECT k, to_json(struct(t)) AS j, from_json(to_json(struct(t)), 't TIME') AS r, to_csv(struct(k, t)) AS c, date_format(t, 'HH:mm') AS f, hash(t) AS h, xxhash64(t) AS x, concat('x', t) AS y FROM e",
    "nested": "SELECT array(t, u) AS l, struct(t, k) AS st, count(*) AS n, min(struct(u, t)) AS m, max(transform(array(t), x -> hour(x))) AS h FROM e GROUP BY array(t, u), struct(t, k)",
    "moved": "SELECT k, t + INTERVAL 1 SECOND AS a FROM e WHERE t < TIME'23:00:00'",
    "set operations": "SELECT t FROM e UNION SELECT u FROM e EXCEPT SELECT t FROM y",
    "pivot": "SELECT * FROM (SELECT k, t, i FROM e) PIVOT (sum(i) FOR t IN (TIME'10:00:00' AS ten, TIME'00:00:00' AS zero))",
    "below a subquery": "SELECT k, t FROM e WHERE t > (SELECT min(u) FROM e) AND t IN (SELECT t FROM y)",
}
# fmt: on


@pytest.mark.parametrize("name", QUERIES)
def test_laws(spark: Any, name: str) -> None:
    program = Program((EVENTS, SHIFTS), (View("v", QUERIES[name], None),))
    case, run = Case.of(program, spark), seeded_run(len(name), program, steps=2, most=10)
    laws.incremental_equals_batch(case, run, Spark(spark))
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT t::TIMESTAMP AS a FROM t", "a cast of TIME to TIMESTAMP reads the clock"),
        ("SELECT array(t)::ARRAY<TIMESTAMP_NTZ> AS a FROM t", "make_timestamp(d, t) is of a date"),
        ("SELECT struct(1 AS i, t AS t)::STRUCT<i: INT, t: TIMESTAMP> AS a FROM t", "a cast of TIME"),
        ("SELECT map('a', t)::MAP<STRING, TIMESTAMP> AS a FROM t", "a cast of TIME"),
        ("SELECT current_time() AS a FROM t", "current_time() here would change rows in every step"),
        ("SELECT avg(t) AS a FROM t", 'requires the "NUMERIC" or "ANSI INTERVAL" type'),
    ],
)
def test_refused(spark: Any, query: str, why: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(f"CREATE TABLE t (k INT, t TIME); CREATE VIEW v AS {query};", session=spark)
    assert why in str(raised.value)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("CREATE TABLE t (t TIME LATENESS 1)", "a column of type TIME can't have LATENESS"),
        ("CREATE TABLE t (t ARRAY<TIME(3)>)", "declare TIME, and CAST it AS TIME(3) in a view"),
        ("CREATE TABLE t (t TIME(9))", "TIME(6) is the finest that columns have"),
        ("CREATE TABLE o (k INT PRIMARY KEY, t TIME) USING delta OPTIONS (path 'x'); INSERT INTO o SELECT k, t FROM v", "delta is given no such values; declare STRING and CAST it"),
    ],
)  # fmt: skip
def test_refused_tables(spark: Any, table: str, why: str) -> None:
    program = "CREATE TABLE g (k INT PRIMARY KEY, t TIME); CREATE VIEW v AS SELECT k, t FROM g;"
    with pytest.raises(ProgramError) as raised:
        compile_program(f"{program} {table};", session=spark)
    assert why in str(raised.value)


@pytest.mark.parametrize("form", ["json", "csv", "parquet", "orc"])
def test_files_read_and_written_are_sparks(spark: Any, tmp_path: Path, form: str) -> None:
    given = spark.sql("VALUES (1L, TIME'10:00:00.5'), (2L, NULL), (3L, TIME'23:59:59.999999') AS t(k, t)")
    given.write.format(form).save(str(tmp_path / "in"))
    program = f"""
        CREATE TABLE t (k BIGINT, t TIME) USING {form} OPTIONS (path '{tmp_path}/in') WITH (append_only = true);
        CREATE VIEW w AS SELECT k, t, hour(t) AS h FROM t;
        CREATE TABLE o (k BIGINT, t TIME) USING {form} OPTIONS (path '{tmp_path}/out');
        INSERT INTO o SELECT k, t FROM w;
    """
    with Pipeline(sql=program, state=tmp_path / "state", spark=spark) as pipeline:
        pipeline.run(once=True)
        hours = {row["k"]: row["h"] for row in pipeline["w"].rows()}
    assert hours == {1: 10, 2: None, 3: 23}
    found = spark.read.schema("k BIGINT, t TIME").format(form).load(str(tmp_path / "out" / "*"))
    assert found.orderBy("k").collect() == given.orderBy("k").collect()


def test_rows_of_python(spark: Any) -> None:
    """As Python's own, as Arrow has them, as a DataFrame; and nothing that isn't one."""
    program = "CREATE TABLE t (k BIGINT PRIMARY KEY, t TIME); CREATE VIEW w AS SELECT k, t FROM t;"
    with Pipeline(sql=program, spark=spark) as p:
        p.insert("t", [(1, time(1, 2, 3)), (2, None)])
        p.insert("t", pa.table({"k": [3], "t": pa.array([1], pa.time32("s"))}))
        p.insert("t", spark.sql("SELECT 4L AS k, TIME'07:07' AS t"))
        p.step()
        found = [(1, time(1, 2, 3)), (2, None), (3, time(0, 0, 1)), (4, time(7, 7))]
        assert sorted((row["k"], row["t"]) for row in p["w"].rows()) == found
        assert sorted(map(tuple, p["w"].to_spark().collect())) == found
        p.sql("UPDATE t SET t = TIME'02:00' WHERE t > TIME'01:00'")
        p.step()
        assert sorted((row["k"], row["t"]) for row in p["w"].rows())[0] == (1, time(2))
        for wrong, why in ((5, "give a datetime.time, not int"), (time(1, tzinfo=UTC), "it has a time zone")):
            with pytest.raises(DataError, match=why):
                p.insert("t", [(9, wrong)])
        with pytest.raises(DataError, match="would lose data"):
            p.insert("t", pa.table({"k": [5], "t": pa.array([1], pa.time64("ns"))}))


def test_the_time_is_the_step_s(spark: Any) -> None:
    text = """
    CREATE TABLE t (k INT);
    CREATE VIEW one AS SELECT current_time() AS c, current_time(0) AS s, localtime(3) AS l;
    CREATE VIEW ticking WITH (clock = 'every 10 seconds') AS
        SELECT k, current_time AS c FROM t WHERE k < 2 OR current_time > TIME'12:00:07';
    """
    with Pipeline(compile_program(text, session=spark), runner="inline") as p:
        p.insert("t", [(1,), (2,)])
        p.step(clock=datetime(2024, 1, 1, 11, 59, 59, 123456, tzinfo=UTC))
        assert p["one"].rows() == [
            {"c": time(11, 59, 59, 123456), "s": time(11, 59, 59), "l": time(11, 59, 59, 123000)}
        ]
        assert p["ticking"].rows() == [{"k": 1, "c": time(11, 59, 50)}]
        p.step(clock=datetime(2024, 1, 1, 12, 0, 19, 999999, tzinfo=UTC))
        assert p["ticking"].rows() == [{"k": k, "c": time(12, 0, 10)} for k in (1, 2)]
        p.step(clock=datetime(2024, 1, 2, 0, 0, 1, tzinfo=UTC))
        assert p["ticking"].rows() == [{"k": 1, "c": time()}]
        assert p["one"].rows()[0]["c"] == time(0, 0, 1)
