"""`rowtime` of tables that only grow: the clock of a row's step, as if it were a column that says so."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program
from tests.effort import examples

pytestmark = pytest.mark.spark

TABLES = """
CREATE TABLE t (x INT, y INT) WITH (append_only = true);
CREATE TABLE u (x INT, `ROWTIME` INT) WITH (append_only = true);
CREATE TABLE w (x INT WATERMARK 1, y INT) WITH (append_only = true);
CREATE STREAM s (x INT, y INT);
"""
# of which Spark's tables have the columns
QUERIES = {
    "timed": "SELECT rowtime, x FROM t",
    "latest": "SELECT x, max(t.rowtime) AS latest, count(DISTINCT rowtime) AS n FROM t GROUP BY x",
    "hourly": "SELECT window.start AS h, sum(y) AS y FROM t GROUP BY window(rowtime, '1 hour')",
    "days": "SELECT CAST(rowtime AS DATE) AS d, x, count(*) AS n FROM t GROUP BY CAST(rowtime AS DATE), x",
    "earlier": "SELECT a.y AS one, b.y AS other FROM t a JOIN t b ON a.x = b.x AND a.rowtime < b.rowtime",
    "both": "SELECT x, rowtime, _row_id AS id FROM t",
    "second": "SELECT x, y, rowtime FROM t QUALIFY row_number() OVER (PARTITION BY x ORDER BY _row_id) = 2",
    "again": "WITH c AS (SELECT y, rowtime AS r FROM t) SELECT q.y FROM c p LEFT JOIN c q ON p.r = q.r",
    "inner": "SELECT x FROM u WHERE EXISTS "
    "(SELECT 1 FROM t WHERE t.rowtime > now() - INTERVAL 30 MINUTES AND u.x = t.x)",
    "own": "SELECT u.rowtime + 1 AS next, t.y FROM u JOIN t ON u.x = t.x",
    "released": "SELECT x, rowtime, y FROM w",
}
STAR = "SELECT * FROM t WHERE rowtime IS NOT NULL"
FINAL = "SELECT STREAM window.start AS h, sum(y) AS y FROM s GROUP BY window(rowtime, '1 hour')"
PROGRAM = TABLES + "".join(f"CREATE VIEW {name} AS {query};\n" for name, query in QUERIES.items())
PROGRAM += f"CREATE VIEW everything AS {STAR};\nCREATE VIEW closed AS {FINAL};\n"
BEGIN = datetime(2024, 1, 1, 23, tzinfo=UTC)
HELD = "x INT, y INT, rowtime TIMESTAMP, _row_id BIGINT"
Held = list[tuple[int, int, datetime, int]]
rows = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), max_size=3)
steps_of = st.lists(st.tuples(st.sampled_from([0, 20, 60]), rows), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def compiled(spark: Any) -> Program:
    return compile_program(PROGRAM, session=spark)


def shown(pipeline: Pipeline, view: str) -> Counter[str]:
    return Counter(str([*map(_plain, row.values())]) for row in pipeline[view].rows())


def recomputed(spark: Any, held: Held, now: datetime) -> dict[str, Counter[str]]:
    """What Spark says of tables that have the times and numbers as columns."""
    greatest = max((row[0] for row in held), default=0)
    spark.createDataFrame(held, HELD).createOrReplaceTempView("t")
    spark.sql("SELECT x, y AS rowtime FROM t").createOrReplaceTempView("u")
    spark.sql(f"SELECT * FROM t WHERE x <= {greatest} - 1").createOrReplaceTempView("w")
    clock = f"TIMESTAMP '{now:%Y-%m-%d %H:%M:%S}'"
    found = {
        name: Counter(str([*map(_plain, row)]) for row in spark.sql(query.replace("now()", clock)).collect())
        for name, query in QUERIES.items()
    }
    found["everything"] = Counter(str([x, y]) for x, y, _, _ in held)
    hours = Counter[datetime]()
    for _, y, at, _ in held:
        hours[at.replace(minute=0)] += y
    over = {hour for _, _, at, _ in held if (hour := at.replace(minute=0)) + timedelta(hours=1) <= now}
    found["closed"] = Counter(str([_plain(hour), hours[hour]]) for hour in over)
    return found


def _plain(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def feed(
    pipeline: Pipeline, left: Counter[str], number: int, now: datetime, came: list[tuple[int, int]]
) -> Held:
    """Make a step; what the table `t` has since. left: is told what has left of the stream."""
    for table in "tuws":
        pipeline.insert(table, came)
    for row, weight in pipeline.step(now)["closed"].rows():
        assert weight == 1
        left[str([*map(_plain, row.values())])] += 1
    return [(x, y, now, (number << 32) + place) for place, (x, y) in enumerate(came)]


def check(spark: Any, pipeline: Pipeline, left: Counter[str], held: Held, now: datetime) -> None:
    for view, expected in recomputed(spark, held, now).items():
        assert (left if view == "closed" else shown(pipeline, view)) == expected, view


@examples(8)
@given(steps=steps_of, partitions=st.integers(1, 3))
def test_it_is_the_clock_of_the_step(
    spark: Any, compiled: Program, steps: list[tuple[int, list[tuple[int, int]]]], partitions: int
) -> None:
    held: Held = []
    left = Counter[str]()
    now = BEGIN
    with Pipeline(compiled, runner="inline", partitions=partitions) as p:
        for number, (minutes, came) in enumerate(steps, 1):
            now += timedelta(minutes=minutes)
            held += feed(p, left, number, now, came)
            check(spark, p, left, held, now)


def test_a_row_keeps_it_when_the_state_is_opened_again(spark: Any, compiled: Program, tmp_path: Path) -> None:
    held: Held = []
    left = Counter[str]()
    for number in range(1, 4):
        with Pipeline(compiled, state=tmp_path / "s", runner="inline") as p:
            now = BEGIN + timedelta(minutes=40 * number)
            held += feed(p, left, number, now, [(number % 2, number), (0, 0)])
            check(spark, p, left, held, now)


def test_the_machines_clock_closes_a_window(spark: Any) -> None:
    program = compile_program(f"{TABLES} CREATE VIEW closed AS {FINAL};", session=spark)
    with Pipeline(program, runner="inline") as p:
        p.insert("s", [(0, 1)])
        p.step()
        assert p.clock is not None
        assert p.due == p.clock.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


@pytest.mark.parametrize("declared", ["x INT PRIMARY KEY", "x INT"])
def test_rows_that_may_go_have_none(spark: Any, declared: str) -> None:
    text = f"CREATE TABLE t ({declared}); CREATE VIEW v AS SELECT rowtime FROM t;"
    with pytest.raises(
        ProgramError, match=r":1:.* unknown column 'rowtime'; rows of append-only tables have one"
    ):
        compile_program(text, session=spark)


@pytest.mark.parametrize("column", ["rowtime", "_row_id", "k.rowtime"])
def test_queries_read_what_views_hold(spark: Any, column: str) -> None:
    text = "CREATE TABLE k (x INT PRIMARY KEY); CREATE VIEW v AS SELECT x FROM k;"
    with Pipeline(compile_program(text, session=spark), runner="inline") as p:
        p.insert("k", [(1,)])
        p.step()
        with pytest.raises(ProgramError, match=f"1:8: unknown column '{column}'; .* let one select it"):
            p.sql(f"SELECT {column} FROM k")


def test_a_program_that_reads_none_is_as_before(spark: Any) -> None:
    """A word that is another table's column makes no clock, no column, no other state."""
    tables = "CREATE TABLE t (x INT) WITH (append_only = true); CREATE TABLE u (x INT, {name} INT);"
    views = "CREATE VIEW v AS SELECT t.x, {name} AS n FROM t JOIN u ON t.x = u.x;"
    named, other = (
        compile_program((tables + views).format(name=name), session=spark).circuit
        for name in ("rowtime", "at")
    )
    assert [node.operator for node in named.nodes][1:] != []
    assert [type(node.operator) for node in named.nodes] == [type(node.operator) for node in other.nodes]
    assert [len(node.schema) for node in named.nodes] == [len(node.schema) for node in other.nodes]
    assert not named.is_timed
