"""Intervals of months, days and time as columns within a program: what Spark makes of the same, step after step."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import ProgramError
from dbsp.commands.query import query_state
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.formats import ARROW, CSV, LINES, PARQUET, spelled
from dbsp.serving.openapi.types import value_schema
from dbsp.serving.postgres.language.types import TEXT, oid_of
from dbsp.sql.compiler.load import compile_program
from tests.generators.programs import Program, View, table
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

LOCAL = """
SELECT a, b, m, make_interval(0, a, 0, b) AS i, CAST(s AS INTERVAL) AS j
FROM (SELECT *, CASE WHEN m % 3 = 0 THEN m || ' months 36 hours -90.5 seconds' WHEN m % 3 = 1 THEN 30 * m || ' days' ELSE 'x' END AS s FROM (SELECT a % 20 AS a, b % 9 AS b, m % 4 AS m FROM t))
"""
# fmt: off
# ruff: noqa: E501  a query a line
VIEWS = {
    "seen": "SELECT a, i, j, array(i, j) AS l, struct(j, a) AS r FROM c",
    # Spark tells a NULL of a partition's rows from one of another's
    "seen of groups": "SELECT j, count(*) AS n, max_by(i, a * 10 + m) AS i FROM c WHERE j IS NOT NULL GROUP BY j",
    "spelled": "SELECT a, CAST(i AS STRING) AS i, CAST(j AS STRING) AS j FROM c",
    "computed": "SELECT CAST(i + j AS STRING) AS sum, CAST(i - j AS STRING) AS less, CAST(-j AS STRING) AS minus, CAST(j * a AS STRING) AS times FROM c",
    "moved": "SELECT CAST(TIMESTAMP'2024-01-31 10:00:00' + i AS STRING) AS t, DATE'2024-01-31' + make_interval(0, a) AS d, CAST(TIMESTAMP'2024-01-31 10:00:00' - j AS STRING) AS u FROM c",
    "chosen": "SELECT CAST(CASE WHEN a > 1 THEN i ELSE j END AS STRING) AS k, CAST(coalesce(j, i) AS STRING) AS l, i IS NULL AS n, j IS NOT NULL AS m FROM c",
    "grouped": "SELECT CAST(j AS STRING) AS j, count(*) AS n, sum(a) AS a FROM c WHERE j IS NOT NULL GROUP BY j",
    "distinct_ones": "SELECT CAST(j AS STRING) AS j FROM (SELECT DISTINCT j FROM c WHERE j IS NOT NULL)",
    "counted": "SELECT a, count(j) AS n, count(DISTINCT j) AS d, CAST(max_by(j, m) AS STRING) AS last, CAST(any_value(i) AS STRING) AS one FROM c GROUP BY a, b",
    "together": "SELECT CAST(j AS STRING) AS j FROM (SELECT i AS j FROM c WHERE i IS NOT NULL UNION SELECT j FROM c WHERE j IS NOT NULL EXCEPT ALL SELECT j FROM c WHERE a = 1)",
    "joined": "SELECT x.b, CAST(x.j AS STRING) AS j, CAST(y.i AS STRING) AS i FROM c x LEFT JOIN c y ON x.a = y.b",
    "of_others": "SELECT CAST(l[1] AS STRING) AS l, CAST(r.j AS STRING) AS r FROM (SELECT a, array(i, j) AS l, struct(j, a) AS r FROM c)",
    "unnested": "SELECT a, CAST(e AS STRING) AS e FROM c LATERAL VIEW explode(array(i, j)) x AS e",
    "before": "SELECT DISTINCT a, CAST(min_by(i, b) OVER (PARTITION BY a) AS STRING) AS i FROM c",
    "parts": "SELECT extract(MONTH FROM i) AS m, extract(DAY FROM j) AS d, extract(YEAR FROM i) AS y, extract(SECOND FROM j) AS s, extract(HOUR FROM j) AS h, extract(MINUTE FROM -j) AS n FROM c",
    "nested": "SELECT CAST(array(CAST(m || ' days' AS INTERVAL)) AS STRING) AS l, to_json(named_struct('j', CAST(m || ' days' AS INTERVAL))) AS o, hash(CAST(m || ' days' AS INTERVAL)) AS h FROM c",
    "constant": "SELECT a, CAST('1 day' AS INTERVAL), CAST('-1 day -2 hours' AS INTERVAL) AS i, CAST('25 hours' AS INTERVAL) AS j FROM c",
    "among constants": "SELECT CASE WHEN a > 1 THEN CAST('1 day' AS INTERVAL) END AS i, hash(a, CAST('1 day' AS INTERVAL)) AS h, struct(a, CAST('2 hours' AS INTERVAL) AS k) AS r, format_string('%s %s', a, CAST('1 day' AS INTERVAL)) AS s FROM c",
    "counted by a constant": "SELECT CAST('1 day' AS INTERVAL) AS i, count(*) AS n, max(a) AS m FROM c GROUP BY i",
    "own": "SELECT CAST(named_struct('months', a, 'days', b, 'microseconds', 3L) AS STRING) AS s FROM c",
}
# fmt: on
TABLE = table("t", "a INT, b INT, m INT")


@pytest.mark.parametrize("name", VIEWS)
def test_laws(spark: Any, name: str) -> None:
    program = Program((TABLE,), (View("v", f"WITH c AS ({LOCAL}) {VIEWS[name]}", None),))
    case, run = Case.of(program, spark), seeded_run(len(name), program, steps=2, most=10)
    laws.incremental_equals_batch(case, run, Spark(spark))
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)


def test_a_local_view_of_them(spark: Any) -> None:
    text = f"CREATE TABLE t (a INT, b INT, m INT); CREATE LOCAL VIEW c AS {LOCAL}; "
    text += f"CREATE VIEW v AS {VIEWS['spelled']};"
    with Pipeline(compile_program(text, session=spark), runner="inline") as p:
        p.insert("t", [(1, 2, 3), (14, None, None)])
        p.step()
        found = sorted(tuple(row.values()) for row in p["v"].rows())
    assert found == [(1, "1 months 2 days", "3 months 35 hours 58 minutes 29.5 seconds"), (14, None, None)]


SEEN = "CREATE TABLE t (k INT, s STRING); CREATE VIEW v AS SELECT k, CAST(s AS INTERVAL) AS i, "
SEEN += "array(CAST(s AS INTERVAL)) AS l, named_struct('i', CAST(s AS INTERVAL)) AS r FROM t"


@pytest.fixture
def shown(spark: Any, tmp_path: Path) -> Iterator[Pipeline]:
    with Pipeline(compile_program(SEEN, session=spark), state=tmp_path, runner="inline", spark=spark) as p:
        p.insert("t", [(1, "1 month 2 days 3.5 seconds"), (2, "x"), (3, "-9 days")])
        p.step()
        p.delete("t", [(3, "-9 days")])
        p.step()
        yield p


def test_they_are_shown_to_everybody(shown: Pipeline, tmp_path: Path) -> None:
    one = pa.MonthDayNano([1, 2, 3_500_000_000])
    assert shown["v"].rows() == [
        {"k": 1, "i": one, "l": [one], "r": {"i": one}},
        {"k": 2, "i": None, "l": [None], "r": {"i": None}},
    ]
    assert shown["v"].to_arrow().schema.field("i").type == pa.month_day_nano_interval()
    assert shown["v"].lookup({"k": 1}) == [shown["v"].rows()[0]]
    frame = shown["v"].to_spark()
    assert frame.schema["i"].dataType.simpleString() == "interval"
    texts = {tuple(row) for row in frame.selectExpr("k", "string(i)", "string(l)", "string(r.i)").collect()}
    text = "1 months 2 days 3.5 seconds"
    assert texts == {(1, text, f"[{text}]", text), (2, None, "[null]", None)}
    query = "SELECT k, i, i + make_interval(0, 1) AS j FROM v WHERE i IS NOT NULL"
    assert shown.sql(query).rows() == [{"k": 1, "i": one, "j": pa.MonthDayNano([2, 2, 3_500_000_000])}]
    (line,) = query_state(str(tmp_path), "SELECT i, r FROM v WHERE k = 1", None, "json")
    assert line == f'{{"i": "{text}", "r": {{"i": "{text}"}}}}'
    (line,) = query_state(
        str(tmp_path),
        "SELECT sort_array(collect_list(k)) AS k, i FROM v GROUP BY i HAVING i IS NULL",
        None,
        "json",
    )
    assert line == '{"k": [2], "i": null}'
    changed = shown.changes("v", since=1)
    assert changed.to_pylist()[0]["i"] == pa.MonthDayNano([0, -9, 0])


def test_they_are_served(shown: Pipeline) -> None:
    rows = shown["v"].sorted_batch()
    assert oid_of(rows.schema.field("i").type) == TEXT
    assert value_schema(rows.schema.field("i").type)["type"] == ["string", "null"]
    assert b'"i": "1 months 2 days 3.5 seconds"' in spelled(rows, LINES, {})
    assert b'"1 months 2 days 3.5 seconds"' in spelled(rows.select([0, 1]), CSV, {})
    months = pa.array([14, None], pa.int64()).view(MONTHS)
    parquet = spelled(rows.append_column("m", months), PARQUET, {})
    read = pq.read_table(io.BytesIO(parquet)).to_pydict()
    assert read["i"] == ["1 months 2 days 3.5 seconds", None]
    assert read["m"] == [14, None]
    assert pa.ipc.open_stream(spelled(rows, ARROW, {})).read_all().column("i").to_pylist()[0].days == 2


def test_arrow_holds_292_years_of_time(spark: Any) -> None:
    """More fails in Spark's `toArrow`, too."""
    most = 2**63 // 1000
    with Pipeline(compile_program(SEEN, session=spark), runner="inline", spark=spark) as p:
        p.insert("t", [(1, f"{most} microseconds")])
        p.step()
        assert p["v"].rows()[0]["i"].nanoseconds == most * 1000
        p.insert("t", [(2, f"{most + 1} microseconds")])
        p.step()
        with pytest.raises(ValueError, match="more than 292 years of time"):
            p["v"].rows()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CREATE TABLE u (i INTERVAL); CREATE VIEW v AS SELECT * FROM u", "type interval"),
        (
            "CREATE TABLE u (i STRING, __weight BIGINT) USING parquet OPTIONS (path '/tmp/u'); CREATE VIEW v AS SELECT make_interval(a) AS i FROM t; INSERT INTO u SELECT * FROM v",
            "column 'i' of 'u' is STRING, the query gives INTERVAL; CAST it",
        ),
        ("CREATE VIEW v AS SELECT a FROM t ORDER BY make_interval(a)", "ordering on type"),
        ("CREATE VIEW v AS SELECT a FROM t WHERE make_interval(a) = make_interval(1)", "ordering on type"),
        (
            "CREATE LOCAL VIEW c AS SELECT make_interval(a) AS i FROM t; CREATE VIEW v AS SELECT to_json(struct(i)) FROM c",
            "with a column of type INTERVAL",
        ),
    ],
)
def test_what_spark_or_others_couldn_t_hold_is_refused(spark: Any, text: str, said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        compile_program(f"CREATE TABLE t (a INT); {text}", session=spark)
