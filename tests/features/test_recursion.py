"""Recursive views and WITH RECURSIVE: every law, over random graphs with cycles, loops and deletions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dbsp.circuits.errors import DataError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.testing.choices import Seeded
from tests.generators.programs import Column, Program, View, table
from tests.generators.strategies import Change, Contents, Row, Run, retract_all
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import DuckDB, Spark

pytestmark = pytest.mark.spark

EDGES = table("e", "a BIGINT, b BIGINT")
KEYED = table("n", "id BIGINT, up BIGINT", key=("id",))
GROWING = table("g", "a BIGINT, b BIGINT", append_only=True)


def recursive(name: str, columns: str, query: str, duckdb: str = "") -> View:
    """duckdb: where the query of WITH RECURSIVE isn't the view's."""
    names = ", ".join(column.split()[0] for column in columns.split(", "))
    return View(
        name,
        query,
        duckdb or f"WITH RECURSIVE {name}({names}) AS ({query}) SELECT * FROM {name}",
        recursive=columns,
    )


def plain(name: str, query: str) -> View:
    return View(name, query, query)


ALTERNATING = """WITH RECURSIVE w(a, b, odd) AS (SELECT a, b, true FROM e
UNION SELECT w.a, e.b, NOT odd FROM w JOIN e ON w.b = e.a) SELECT a, b FROM w WHERE """
PATHS = "SELECT a, b FROM e UNION SELECT p.a, e.b FROM p JOIN e ON p.b = e.a"

# fmt: off
# ruff: noqa: E501  a query a line
PROGRAMS = {
    "transitive closure": Program((EDGES,), (recursive("p", "a BIGINT, b BIGINT", PATHS),)),
    "LEFT JOIN": Program((EDGES, KEYED), (
        recursive("p", "a BIGINT, b BIGINT", "SELECT a, b FROM e UNION SELECT p.a, e.b FROM p LEFT JOIN e ON p.b = e.a"),
        recursive("q", "a BIGINT, b BIGINT", "SELECT id, up FROM n UNION SELECT q.a, n.up FROM q LEFT JOIN n ON q.b = n.id AND n.up > 1"),
        recursive("r", "a BIGINT, b BIGINT", "SELECT a, b FROM e UNION SELECT r.b, coalesce(e.a, -1) FROM r LEFT JOIN e ON r.a IS NOT DISTINCT FROM e.b"))),
    "LEFT JOIN, level by level": Program((EDGES,), (
        plain("w", """WITH RECURSIVE r(a, b, n) AS (SELECT a, b, 0 FROM e
              UNION ALL SELECT r.a, e.b, n + 1 FROM r LEFT JOIN e ON r.b = e.a WHERE n < 2) SELECT a, b, n FROM r"""),)),
    "both sides recursive": Program((EDGES,), (
        recursive("p", "a BIGINT, b BIGINT", "SELECT a, b FROM e UNION SELECT x.a, y.b FROM p x JOIN p y ON x.b = y.a",
                  PATHS.join(("WITH RECURSIVE p AS (", ") SELECT * FROM p"))),)),
    "mutual recursion": Program((EDGES,), (
        recursive("odd", "a BIGINT, b BIGINT",
                  "SELECT a, b FROM e UNION SELECT x.a, e.b FROM even x JOIN e ON x.b = e.a", f"{ALTERNATING} odd"),
        recursive("even", "a BIGINT, b BIGINT", "SELECT x.a, e.b FROM odd x JOIN e ON x.b = e.a",
                  f"SELECT DISTINCT * FROM ({ALTERNATING} NOT odd)"))),
    "mutual recursion, the base last": Program((EDGES,), (
        recursive("p", "a BIGINT, b BIGINT", "SELECT q.a, e.b FROM q JOIN e ON q.b = e.a",
                  f"SELECT DISTINCT * FROM ({ALTERNATING} NOT odd)"),
        recursive("q", "a BIGINT, b BIGINT", "SELECT a, b FROM e UNION SELECT p.a, e.b FROM p JOIN e ON p.b = e.a",
                  f"{ALTERNATING} odd"))),
    "shortest paths": Program((EDGES,), (
        recursive("h", "a BIGINT, b BIGINT, hops INT",
                  "SELECT a, b, 1 AS hops FROM e UNION SELECT h.a, e.b, hops + 1 FROM h JOIN e ON h.b = e.a WHERE hops < 4"),
        plain("s", "SELECT a, b, min(hops) AS hops FROM h GROUP BY a, b"))),
    "connected components": Program((EDGES,), (
        recursive("c", "a BIGINT, b BIGINT",
                  "SELECT a, b FROM e UNION SELECT b, a FROM e UNION "
                  "SELECT c.a, e.b FROM c JOIN e ON c.b = e.a UNION SELECT c.a, e.a FROM c JOIN e ON c.b = e.b",
                  """WITH RECURSIVE both_ways AS (SELECT a, b FROM e UNION SELECT b, a FROM e),
                  c AS (SELECT * FROM both_ways UNION SELECT c.a, w.b FROM c JOIN both_ways w ON c.b = w.a)
                  SELECT * FROM c"""),
        plain("k", "SELECT a, min(b) AS component FROM c GROUP BY a"))),
    "reachable by IN": Program((EDGES,), (
        recursive("v", "a BIGINT", "SELECT 1 AS a UNION SELECT b FROM e WHERE a IN (SELECT a FROM v)",
                  "WITH RECURSIVE v(a) AS (SELECT 1 UNION SELECT e.b FROM v JOIN e ON v.a = e.a) SELECT CAST(a AS BIGINT) FROM v"),)),
    "a keyed table": Program((KEYED,), (
        recursive("t", "id BIGINT, top BIGINT",
                  "SELECT id, up AS top FROM n UNION SELECT t.id, n.up FROM t JOIN n ON t.top = n.id"),)),
    "over tables that grow": Program((GROWING,), (
        recursive("p", "a BIGINT, b BIGINT", PATHS.replace(" e", " g").replace("e.", "g.")),)),
    "recursion over recursion": Program((EDGES,), (
        recursive("p", "a BIGINT, b BIGINT", PATHS),
        plain("d", "SELECT a, count(*) AS reached FROM p GROUP BY a"),
        recursive("q", "n BIGINT", "SELECT reached FROM d UNION SELECT n - 1 FROM q WHERE n > 0",
                  "WITH RECURSIVE q(n) AS (SELECT reached FROM d UNION SELECT n - 1 FROM q WHERE n > 0) SELECT n FROM q"))),
    "explode": Program((EDGES,), (
        recursive("x", "a BIGINT, p BIGINT",
                  "SELECT a, 0L AS p FROM e UNION SELECT c, p FROM (SELECT p + 1 AS p, explode(array(a + 1, a + 3)) AS c FROM x WHERE a < 6)",
                  "WITH RECURSIVE x(a, p) AS (SELECT a, 0::BIGINT FROM e UNION SELECT unnest([a + 1, a + 3]), p + 1 FROM x WHERE a < 6) SELECT * FROM x"),)),
    "NULLs": Program((EDGES,), (
        recursive("p", "a BIGINT, b BIGINT",
                  "SELECT a, b FROM e UNION SELECT p.a, e.b FROM p JOIN e ON p.b IS NOT DISTINCT FROM e.a"),)),
    "a walk by levels": Program((EDGES,), (
        plain("w", """WITH RECURSIVE r(a, n) AS (SELECT a, 0 FROM e
              UNION ALL SELECT e.b, n + 1 FROM r JOIN e ON r.a = e.a WHERE n < 3) SELECT a, n FROM r"""),)),
    "levels that meet": Program((EDGES,), (
        plain("w", """WITH RECURSIVE r(a, n) AS (SELECT b, 0 FROM e UNION ALL
              SELECT e.b, n + 1 FROM r JOIN e ON r.a = e.a WHERE n < 2 AND e.b IN (SELECT a FROM e))
              SELECT x.a, x.n, count(*) AS c FROM r x JOIN r y ON x.a = y.a GROUP BY x.a, x.n"""),)),
    "distinct levels": Program((EDGES,), (
        plain("w", """WITH RECURSIVE r(a, n) AS (SELECT a, 0 FROM e
              UNION ALL SELECT DISTINCT e.b, n + 1 FROM r JOIN e ON r.a = e.a WHERE n < 3) SELECT a, n FROM r"""),)),
    "numbers": Program((EDGES,), (
        plain("w", """WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5)
              SELECT e.b, r.n FROM e JOIN r ON e.a = r.n"""),)),
}
# DuckDB has no level that is read twice
SPARK_ONLY = {
    "a level joined with itself": Program((EDGES,), (
        View("w", """WITH RECURSIVE r(a, n) AS (SELECT a, 0 FROM e UNION ALL
             SELECT x.a + y.a, x.n + 1 FROM r x JOIN r y ON x.a = y.a + 1 WHERE x.n < 3) SELECT a, n FROM r""", None),)),
}
# fmt: on
ALL = {**PROGRAMS, **SPARK_ONLY}


def graphs(seed: int, program: Program, steps: int, nodes: int = 5) -> Run:
    """Edges of few nodes inserted and deleted, so that cycles close and break."""
    choices = Seeded(seed)
    run: Run = []
    held: Counter[Row] = Counter()
    given = program.tables[0]
    for _ in range(steps):
        changes = []
        for _ in range(choices.integer(0, 4)):
            row = tuple(_node(choices, column, nodes) for column in given.columns)
            there = list(held.elements())
            if given.key:
                changes.append(Change(choices.choice(["upsert", "upsert", "delete"]), row))
            elif there and not given.append_only and choices.integer(0, 1):
                gone = choices.choice(there)
                held[gone] -= 1
                changes.append(Change("retract", gone))
            else:
                held[row] += 1
                changes.append(Change("insert", row))
        run.append({given.name: changes} if changes else {})
    return run


def _node(choices: Seeded, column: Column, nodes: int) -> int | None:
    return None if column.nullable and not choices.integer(0, 11) else choices.integer(0, nodes - 1)


@pytest.fixture(scope="module")
def duckdb() -> DuckDB:
    return DuckDB()


@pytest.mark.parametrize("name", PROGRAMS)
def test_incremental_equals_batch(spark: Any, duckdb: DuckDB, name: str) -> None:
    case = Case.of(PROGRAMS[name], spark)
    ways = list(WAYS.values())
    for seed in range(4):
        run = graphs(10 * seed + len(name), case.program, steps=8)
        laws.incremental_equals_batch(case, run, duckdb, ways[(seed + len(name)) % len(ways)])


@pytest.mark.parametrize("name", ["a level joined with itself", "a walk by levels", "shortest paths"])
def test_incremental_equals_spark(spark: Any, name: str) -> None:
    case = Case.of(ALL[name], spark)
    laws.incremental_equals_batch(case, graphs(3, case.program, steps=3), Spark(spark))


@pytest.mark.parametrize("name", ALL)
def test_other_laws(spark: Any, name: str) -> None:
    case = Case.of(ALL[name], spark)
    run = graphs(5, case.program, steps=6)
    for way in WAYS.values():
        laws.the_way_changes_no_byte(case, run, way)
    laws.retracting_all_leaves_nothing(case, run)
    laws.a_failing_step_changes_nothing(case, run, WAYS["two partitions"])
    laws.empty_gives_empty(case, run)


def test_the_spark_runner_gives_the_same_bytes(spark: Any) -> None:
    case = Case.of(PROGRAMS["mutual recursion"], spark)
    way = laws.Way("spark", 3, reopened=True, spark=spark)
    laws.the_way_changes_no_byte(case, graphs(7, case.program, steps=3), way)


def test_recursion_over_tables_that_grow_only_grows(spark: Any) -> None:
    compiled = Case.of(PROGRAMS["over tables that grow"], spark).compiled
    assert compiled.views["p"].append_only
    assert not Case.of(PROGRAMS["transitive closure"], spark).compiled.views["p"].append_only


@pytest.mark.parametrize("limit", [3, 4])
def test_the_limit_of_levels_is_sparks(spark: Any, limit: int) -> None:
    """As many levels as there may be, and one more."""
    query = (
        f"WITH RECURSIVE r(n) MAX RECURSION LEVEL {limit} AS "
        "(SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT n FROM r"
    )
    program = compile_program(f"CREATE VIEW v AS {query};", session=spark)
    try:
        expected = sorted(row.n for row in spark.sql(query).collect())
    except Exception as error:  # Spark wraps it in one of several classes
        assert "RECURSION_LEVEL_LIMIT_EXCEEDED" in str(error), error
        expected = None
    with Pipeline(program, runner="inline") as running:
        if expected is None:
            with pytest.raises(DataError, match=f"RECURSION_LEVEL_LIMIT_EXCEEDED.*after {limit} levels"):
                running.step()
        else:
            running.step()
            assert sorted(row["n"] for row in running["v"].rows()) == expected


def test_past_the_limit_nothing_is_kept(spark: Any) -> None:
    program = compile_program(
        "CREATE TABLE e (a BIGINT);"
        "CREATE RECURSIVE VIEW r (a BIGINT) WITH (max_iterations = 5) AS "
        "SELECT a FROM e UNION SELECT a + 1 FROM r WHERE a < 10;",
        session=spark,
    )
    with Pipeline(program, runner="inline") as running:
        running.insert("e", [(6,)])
        running.step()
        running.delete("e", [(6,)])
        running.insert("e", [(5,)])
        with pytest.raises(
            DataError, match="recursive view 'r' still has new rows after 5 iterations; bound"
        ):
            running.step()
        running.discard()
        assert running.last_step == 1
        running.delete("e", [(6,)])
        running.step()
        assert not running["r"].rows()


def test_steps_of_a_long_run(spark: Any, duckdb: DuckDB) -> None:
    """More nodes, so that paths are long, and everything deleted in the end."""
    case = Case.of(PROGRAMS["transitive closure"], spark)
    run = graphs(11, case.program, steps=25, nodes=12)
    contents = Contents(case.program.tables)
    for delta in run:
        contents.apply(delta)
    laws.incremental_equals_batch(case, [*run, retract_all(contents)], duckdb)
