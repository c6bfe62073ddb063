"""first and last follow the order of arrival: against DuckDB over tables that number their rows by the book."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from circuits.errors import ProgramError
from sql.program import compile_program
from tests import laws
from tests.laws import WAYS, Case, Running, Way
from tests.oracle import DuckDB, same_rows
from tests.programs import Column, Program, Table, View, table
from tests.strategies import Delta, Row, Run, seeded_run
from tests.values import identity

pytestmark = pytest.mark.spark

EVENTS = table("e", "k BIGINT, i INT, s STRING, d DOUBLE, b BOOLEAN")
CLICKS = table("a", "k BIGINT, i INT, s STRING, d DOUBLE, b BOOLEAN", append_only=True)
TABLES = (EVENTS, CLICKS)

# ours, and DuckDB's, where n is the order of arrival
# fmt: off
# ruff: noqa: E501  a query a line
QUERIES = {
    "by key": ("SELECT k, first(i) AS f, last(s) AS l, count(*) AS c FROM e GROUP BY k",
               "SELECT k, first(i ORDER BY n) AS f, last(s ORDER BY n) AS l, count(*) AS c FROM e GROUP BY k"),
    "of everything": ("SELECT first_value(s) AS f, last_value(d) AS l FROM e",
                      "SELECT first(s ORDER BY n) AS f, last(d ORDER BY n) AS l FROM e"),
    "IGNORE NULLS and FILTER": ("SELECT k, first(i) IGNORE NULLS AS f, last(s, true) AS l, last(i) FILTER (WHERE b) AS g, first(s) FILTER (WHERE i > 0) IGNORE NULLS AS h FROM e GROUP BY k",
                                "SELECT k, first(i ORDER BY n) FILTER (WHERE i IS NOT NULL) AS f, last(s ORDER BY n) FILTER (WHERE s IS NOT NULL) AS l,"
                                " last(i ORDER BY n) FILTER (WHERE b) AS g, first(s ORDER BY n) FILTER (WHERE i > 0 AND s IS NOT NULL) AS h FROM e GROUP BY k"),
    "below filters and projections": ("SELECT x, first(y) + 1 AS f FROM (SELECT k AS x, i * 2 AS y FROM e WHERE i >= 0) GROUP BY x HAVING last(y) > 0",
                                      "SELECT x, first(y ORDER BY n) + 1 AS f FROM (SELECT k AS x, i * 2 AS y, n FROM e WHERE i >= 0) GROUP BY x HAVING last(y ORDER BY n) > 0"),
    "of a table that only grows": ("SELECT k, first(i) AS f, last(s) AS l FROM a GROUP BY k",
                                   "SELECT k, first(i ORDER BY n) AS f, last(s ORDER BY n) AS l FROM a GROUP BY k"),
    "of a union": ("SELECT k, first(i) AS f, last(s) AS l FROM (SELECT * FROM e UNION ALL SELECT * FROM a) GROUP BY k",
                   "SELECT k, first(i ORDER BY n) AS f, last(s ORDER BY n) AS l FROM (SELECT * FROM e UNION ALL SELECT * FROM a) GROUP BY k"),
}
# fmt: on


def program_of(name: str) -> Program:
    return Program(TABLES, (View("v", *QUERIES[name]),))


class Numbered:
    """The rows of all tables with their order of arrival. A retraction takes a row's earliest copy."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {t.name: [] for t in TABLES}
        self.count = 0

    def apply(self, delta: Delta) -> None:
        for name, changes in delta.items():
            for change in changes:
                for _ in range(change.weight if change.kind == "insert" else 0):
                    self.rows[name].append((*change.row, self.count))
                    self.count += 1
        for name, changes in delta.items():
            for change in changes:
                for _ in range(change.weight if change.kind == "retract" else 0):
                    wanted = identity(change.row)
                    self.rows[name].remove(next(r for r in self.rows[name] if identity(r[:-1]) == wanted))

    def view(self, program: Program) -> list[Row]:
        numbered = tuple(replace(t, columns=(*t.columns, Column("n", "BIGINT"))) for t in TABLES)
        return DuckDB().views(Program(numbered, program.views), self.rows)["v"]


def in_order(run: Run) -> Run:
    """Every table's changes in one call each, so that the deltas' order is that of the tables."""
    return [{t.name: delta[t.name] for t in TABLES if t.name in delta} for delta in run]


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("seed", range(3))
def test_equal_to_duckdb(spark: Any, name: str, seed: int) -> None:
    program = program_of(name)
    way = Way() if seed else WAYS["everything at once"]
    numbered = Numbered()
    with Running(Case.of(program, spark), way) as running:
        for delta in in_order(seeded_run(seed, program, steps=5, most=8)):
            running.step(delta)
            numbered.apply(delta)
            difference = same_rows(running.rows("v"), numbered.view(program))
            assert difference is None, difference


@pytest.mark.parametrize("name", QUERIES)
def test_laws(spark: Any, name: str) -> None:
    program = program_of(name)
    case, run = Case.of(program, spark), seeded_run(7, program, steps=4, most=5)
    for way in WAYS.values():
        laws.the_way_changes_no_byte(case, run, way)
    laws.retracting_all_leaves_nothing(case, run)
    laws.empty_gives_empty(case, run)


def test_on_spark(spark: Any) -> None:
    program = program_of("of a union")
    case, run = Case.of(program, spark), seeded_run(3, program, steps=2, most=9)
    laws.the_way_changes_no_byte(case, run, Way(runner="spark", partitions=3, spark=spark))


KEYED: Table = table("c", "k BIGINT, i INT", key=("k",))
REFUSED = {
    "SELECT first(i) AS f FROM c": "first() and last() over 'c', by the order of arrival: only a table without a",
    "SELECT last(x.i) AS f FROM e x JOIN c ON x.k = c.k": "first() and last() over the rows of JOIN, by the order",
    "SELECT k, first(n) AS f FROM (SELECT k, count(*) AS n FROM e GROUP BY k) GROUP BY k": "over the rows of AGGREGATE",
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_has_no_order_of_arrival(spark: Any, query: str) -> None:
    text = f"{EVENTS.ddl} {KEYED.ddl}\nCREATE VIEW v AS {query}"
    with pytest.raises(ProgramError) as raised:
        compile_program(text, "p.sql", session=spark)
    assert REFUSED[query] in str(raised.value)
    assert str(raised.value).startswith("p.sql:2:")
