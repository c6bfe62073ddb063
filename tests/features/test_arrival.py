"""first, last and lists follow the order of arrival: against DuckDB over tables that number their rows by the book."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.running.spark.frames import to_frame
from dbsp.sql.compiler.load import compile_program
from dbsp.testing.bags import arrow_values, identity, same_rows
from dbsp.testing.choices import Seeded
from dbsp.testing.programs import in_process
from tests.generators.programs import Column, Program, View, table
from tests.generators.random_arrival import draw_by_arrival, draw_upsert
from tests.generators.strategies import Delta, Row, Run, seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case, Running, Way
from tests.oracles.oracle import DuckDB, declared

pytestmark = pytest.mark.spark

EVENTS = table("e", "k BIGINT, i INT, s STRING, d DOUBLE, b BOOLEAN")
CUSTOMERS = table("c", "k BIGINT, i INT, s STRING", key=("k",))
CLICKS = table("a", "k BIGINT, i INT, s STRING, d DOUBLE, b BOOLEAN", append_only=True)
TABLES = (EVENTS, CLICKS, CUSTOMERS)

# the values of a list that aren't NULL, in order
LIST = "coalesce(list({0} ORDER BY n{1}) FILTER (WHERE {0} IS NOT NULL), []) AS l"

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
    "of a keyed table": ("SELECT s, first(i) AS f, last(k) AS l FROM c GROUP BY s",
                         "SELECT s, first(i ORDER BY n) AS f, last(k ORDER BY n) AS l FROM c GROUP BY s"),
    "of bags and keyed tables": ("SELECT first(x) FILTER (WHERE x > 0) AS f, last(x, true) AS l FROM (SELECT i AS x FROM c WHERE k > 0 UNION ALL SELECT i FROM e)",
                                 "SELECT first(x ORDER BY n) FILTER (WHERE x > 0) AS f, last(x ORDER BY n) FILTER (WHERE x IS NOT NULL) AS l FROM (SELECT i AS x, n FROM c WHERE k > 0 UNION ALL SELECT i, n FROM e)"),
    "of a join": ("SELECT e.k, first(e.i) AS f, last(c.s) AS l, first(c.i) IGNORE NULLS AS g, count(*) AS n FROM e JOIN c ON e.k = c.k AND e.i <= c.i + 2 GROUP BY e.k",
                  "SELECT e.k, first(e.i ORDER BY greatest(e.n, c.n), e.n, c.n) AS f, last(c.s ORDER BY greatest(e.n, c.n), e.n, c.n) AS l,"
                  " first(c.i ORDER BY greatest(e.n, c.n), e.n, c.n) FILTER (WHERE c.i IS NOT NULL) AS g, count(*) AS n FROM e JOIN c ON e.k = c.k AND e.i <= c.i + 2 GROUP BY e.k"),
    "of outer joins": ("SELECT first(e.i) AS f, last(y.i) AS l, first(c.s) AS g FROM e LEFT JOIN c ON e.k = c.k FULL JOIN a y ON y.k = c.i",
                       "SELECT first(i ORDER BY o) AS f, last(yi ORDER BY o) AS l, first(s ORDER BY o) AS g FROM (SELECT x.i, y.i AS yi, x.s,"
                       " [greatest(coalesce(x.o[1], 0), coalesce(y.n, 0)), coalesce(x.o[1], 0), coalesce(x.o[2], 0), coalesce(x.o[3], 0), coalesce(y.n, 0)] AS o FROM"
                       " (SELECT e.i, c.s, c.i AS j, [greatest(e.n, coalesce(c.n, 0)), e.n, coalesce(c.n, 0)] AS o FROM e LEFT JOIN c ON e.k = c.k) x FULL JOIN a y ON y.k = x.j)"),
    "of rows with a match": ("SELECT k, last(i) AS l, first(s) AS f FROM e WHERE k IN (SELECT k FROM c) OR NOT EXISTS (SELECT 1 FROM a WHERE a.i = e.i) GROUP BY k",
                             "SELECT k, last(i ORDER BY n) AS l, first(s ORDER BY n) AS f FROM e WHERE k IN (SELECT k FROM c) OR NOT EXISTS (SELECT 1 FROM a WHERE a.i = e.i) GROUP BY k"),
    "of ranked rows": ("SELECT k, first(i) AS f, last(r) AS l FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY i) AS r FROM e) q WHERE r <= 2 GROUP BY k",
                       "SELECT k, first(i ORDER BY n) AS f, last(r ORDER BY n) AS l FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS r FROM e) q WHERE r <= 2 GROUP BY k"),
    "of views": ("SELECT k, first(j) AS f, last(j) AS l FROM (SELECT * FROM w2 UNION ALL SELECT k, j, b FROM w) q GROUP BY k",
                 "SELECT k, first(j ORDER BY n) AS f, last(j ORDER BY n) AS l FROM (SELECT * FROM w2 UNION ALL SELECT * FROM w) q GROUP BY k"),
    "of windows": ("SELECT k, first(t) AS f, last(t) AS l FROM (SELECT k, sum(i) OVER (PARTITION BY b) AS t FROM e) q GROUP BY k",
                   "SELECT k, first(t ORDER BY n) AS f, last(t ORDER BY n) AS l FROM (SELECT k, CAST(sum(i) OVER (PARTITION BY b) AS BIGINT) AS t, n FROM e) q GROUP BY k"),
    "of exploded rows": ("SELECT k, first(g) AS f, last(g) AS l FROM (SELECT k, explode(array(i, -i, k)) AS g FROM e) q GROUP BY k",
                         "SELECT k, first(g ORDER BY n, p) AS f, last(g ORDER BY n, p) AS l FROM (SELECT k, n, unnest([i, -i, k]) AS g, unnest([1, 2, 3]) AS p FROM e) q GROUP BY k"),
    "with ROLLUP": ("SELECT k, first(i) AS f, last(s) AS l FROM e GROUP BY ROLLUP (k)",
                    "SELECT k, first(i ORDER BY n) AS f, last(s ORDER BY n) AS l FROM e GROUP BY ROLLUP (k)"),
    "of a union": ("SELECT k, first(i) AS f, last(s) AS l FROM (SELECT * FROM e UNION ALL SELECT * FROM a) GROUP BY k",
                   "SELECT k, first(i ORDER BY n) AS f, last(s ORDER BY n) AS l FROM (SELECT * FROM e UNION ALL SELECT * FROM a) GROUP BY k"),
    "lists": ("SELECT k, collect_list(i) AS l, array_agg(s) RESPECT NULLS AS a, listagg(s, ',') AS j, string_agg(s) FILTER (WHERE b) AS t, size(collect_list(d)) AS n FROM e GROUP BY k",
              f"SELECT k, {LIST.format('i', '')}, list(s ORDER BY n) AS a, string_agg(s, ',' ORDER BY n) AS j, string_agg(s, '' ORDER BY n) FILTER (WHERE b) AS t, count(d)::INT AS n FROM e GROUP BY k"),
    "lists of everything": ("SELECT collect_list(struct(k, s)) AS l, listagg(s, ';') AS j, sum(k) AS n FROM a",
                            f"SELECT {LIST.format('struct_pack(k, s)', '')}, string_agg(s, ';' ORDER BY n) AS j, sum(k)::BIGINT AS n FROM a"),
    "lists of keyed tables, united with bags": ("SELECT b, collect_list(x) AS l FROM (SELECT i AS x, true AS b FROM c WHERE k > 0 UNION ALL SELECT i, b FROM e) GROUP BY b",
                                                f"SELECT b, {LIST.format('x', '')} FROM (SELECT i AS x, true AS b, n FROM c WHERE k > 0 UNION ALL SELECT i, b, n FROM e) GROUP BY b"),
    "lists of a join": ("SELECT e.k, collect_list(e.i) AS l, listagg(c.s, ',') AS j, first(e.i) IGNORE NULLS AS f FROM e JOIN c ON e.k = c.k AND e.i <= c.i + 2 GROUP BY e.k",
                        f"SELECT k, {LIST.format('i', '')}, string_agg(s, ',' ORDER BY n) AS j, first(i ORDER BY n) FILTER (WHERE i IS NOT NULL) AS f"
                        " FROM (SELECT e.k, e.i, c.s, [greatest(e.n, c.n), e.n, c.n] AS n FROM e JOIN c ON e.k = c.k AND e.i <= c.i + 2) GROUP BY k"),
    "lists of views": ("SELECT k, collect_list(j) AS l, last(j) AS f FROM (SELECT * FROM w2 UNION ALL SELECT k, j, b FROM w) q WHERE j <> 1 GROUP BY k",
                       "SELECT k, list(j ORDER BY n) AS l, last(j ORDER BY n) AS f FROM (SELECT * FROM w2 UNION ALL SELECT * FROM w) q WHERE j <> 1 GROUP BY k"),
    "over partitions": ("SELECT k, i, first(i) OVER w AS f, last(s) OVER w AS l, collect_list(i) OVER w AS c, listagg(s, ',') OVER w AS j,"
                        " listagg(s) FILTER (WHERE b) OVER w AS g, collect_list(i) OVER (PARTITION BY k ORDER BY i NULLS LAST, s, d, b) AS o, count(*) OVER w AS m FROM e WINDOW w AS (PARTITION BY k)",
                        "SELECT k, i, first(i) OVER w AS f, last(s) OVER w AS l, coalesce(list(i) FILTER (WHERE i IS NOT NULL) OVER w, []) AS c, string_agg(s, ',') OVER w AS j,"
                        " string_agg(s, '') FILTER (WHERE b) OVER w AS g, coalesce(list(i) FILTER (WHERE i IS NOT NULL) OVER (PARTITION BY k ORDER BY i NULLS LAST, s NULLS FIRST, d NULLS FIRST, b NULLS FIRST), []) AS o, count(*) OVER w AS m"
                        " FROM e WINDOW w AS (PARTITION BY k ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"),
    "over rows of a join": ("SELECT k, i, first(i) OVER (PARTITION BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS f, collect_list(s) OVER (PARTITION BY k ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS l FROM (SELECT e.k, c.i, e.s FROM e LEFT JOIN c ON e.k = c.k) q",
                            "SELECT k, i, first(i) OVER (PARTITION BY k ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS f, coalesce(list(s) FILTER (WHERE s IS NOT NULL) OVER (PARTITION BY k ORDER BY n ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING), []) AS l"
                            " FROM (SELECT e.k, c.i, e.s, [greatest(e.n, coalesce(c.n, 0)), e.n, coalesce(c.n, 0)] AS n FROM e LEFT JOIN c ON e.k = c.k) q"),
    "lists of what is over partitions": ("SELECT k, collect_list(f) AS l, first(f) AS f FROM (SELECT k, first(i) OVER (PARTITION BY k % 2) AS f FROM e) q GROUP BY k",
                                         f"SELECT k, {LIST.format('f', '')}, first(f ORDER BY n) AS f FROM (SELECT k, n, first(i) OVER (PARTITION BY k % 2 ORDER BY n) AS f FROM e) q GROUP BY k"),
    "lists with ROLLUP and LATERAL": ("SELECT k, collect_list(g) AS l FROM (SELECT k, explode(array(i, -i, k)) AS g FROM e) q GROUP BY ROLLUP (k)",
                                      f"SELECT k, {LIST.format('g', ', p')} FROM (SELECT k, n, unnest([i, -i, k]) AS g, unnest([1, 2, 3]) AS p FROM e) q GROUP BY ROLLUP (k)"),
}
# fmt: on


# below all queries: views, one of which keeps the rows' order
VIEWS = (
    View("w", "SELECT k, i + 1 AS j, b FROM e WHERE b", "SELECT k, i + 1 AS j, b, n FROM e WHERE b"),
    View("w2", "SELECT * FROM w WHERE j > 0", "SELECT * FROM w WHERE j > 0", local=True),
)


def program_of(name: str) -> Program:
    return Program(TABLES, (*(VIEWS if "views" in name else ()), View("v", *QUERIES[name])))


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
                if change.kind in ("upsert", "delete"):
                    self.rows[name] = [row for row in self.rows[name] if row[0] != change.row[0]]
                if change.kind == "upsert":
                    self.rows[name].append((*change.row, self.count))
                    self.count += 1
                for _ in range(change.weight if change.kind == "retract" else 0):
                    wanted = identity(change.row)
                    self.rows[name].remove(next(r for r in self.rows[name] if identity(r[:-1]) == wanted))

    def views(self, program: Program) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
        """(of the views, of the targets) the rows."""
        numbered = tuple(replace(t, columns=(*t.columns, Column("n", "BIGINT"))) for t in TABLES)
        oracle = DuckDB()
        return oracle.views(Program(numbered, program.views), self.rows), oracle.upserted(program.upserts)


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
            difference = same_rows(running.rows("v"), numbered.views(program)[0]["v"])
            assert difference is None, difference


@pytest.mark.parametrize("name", QUERIES)
def test_laws(spark: Any, name: str) -> None:
    program = program_of(name)
    case, run = Case.of(program, spark), seeded_run(7, program, steps=4, most=5)
    for way in WAYS.values():
        laws.the_way_changes_no_byte(case, run, way)
    laws.retracting_all_leaves_nothing(case, run)
    laws.empty_gives_empty(case, run)


@pytest.mark.parametrize("seed", range(4))
def test_random_queries(spark: Any, seed: int) -> None:
    choices = Seeded(seed)
    names = [each.name for each in TABLES]
    views = tuple(draw_by_arrival(choices, f"v{i}", names) for i in range(6))
    program = Program(TABLES, views, tuple(draw_upsert(choices, f"u{i}", names) for i in range(3)))
    case = Case.of(program, spark)
    for number, way in enumerate((Way(), WAYS["everything at once"])):
        numbered = Numbered()
        with Running(case, way) as running:
            for delta in in_order(seeded_run(10 * seed + number, program, steps=5, most=6)):
                running.step(delta)
                numbered.apply(delta)
                expected, targets = numbered.views(program)
                found = {name: running.rows(name) for name in expected}
                found |= {name: running.written(name) for name in targets}
                for name, rows in (expected | targets).items():
                    difference = same_rows(found[name], rows)
                    assert difference is None, f"{program.text}\n{name}: {difference}"
    laws.retracting_all_leaves_nothing(case, seeded_run(seed, program, steps=4, most=5))


LISTED = (
    "SELECT {0} AS g, collect_list({1}) AS l, array_agg({1}) RESPECT NULLS AS a, listagg(s, ',') AS j,"
    " first({1}) IGNORE NULLS AS f, last({1}) IGNORE NULLS AS t, first({1}) AS h, last({1}) AS u"
    " FROM {2} WHERE {1} IS NULL OR {1} < 3 GROUP BY {0}"
)
ENDS = (
    "SELECT count(*) AS n FROM lists{0} WHERE NOT (get(l, 0) <=> f AND try_element_at(l, -1) <=> t"
    " AND a[0] <=> h AND element_at(a, -1) <=> u)"
)
PARTS = (("k", "i", "e"), ("k", "i", "a"), ("s", "i", "c"))
JOINED = "(SELECT e.k, c.i, e.s FROM e LEFT JOIN c ON e.k = c.k UNION ALL SELECT k, i, s FROM a) q"


def test_lists_begin_with_the_first_and_end_with_the_last(spark: Any) -> None:
    """Of one table's rows in order, in one task, Spark makes the same lists."""
    parts = [LISTED.format(*each) for each in (*PARTS, ("k", "i", JOINED))]
    lists = tuple(View(f"lists{n}", text, None) for n, text in enumerate(parts))
    ends = tuple(View(f"ends{n}", ENDS.format(n), None) for n in range(len(lists)))
    program = Program(TABLES, (*lists, *ends))
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    numbered, lengths = Numbered(), set()
    with Running(Case.of(program, spark), Way()) as running:
        for delta in in_order(seeded_run(11, program, steps=5, most=12)):
            running.step(delta)
            numbered.apply(delta)
            for view in ends:
                assert running.rows(view.name) == [(0,)]
            for table in TABLES:
                rows = [row[:-1] for row in sorted(numbered.rows[table.name], key=lambda row: row[-1])]
                to_frame(session, declared(table, rows)).coalesce(1).createOrReplaceTempView(table.name)
            for view in lists[: len(PARTS)]:
                expected = arrow_values(session.sql(view.query).toArrow())
                difference = same_rows(running.rows(view.name), expected)
                assert difference is None, difference
                lengths |= {len(row[2]) for row in expected}
    assert max(lengths) > 3


def test_lists_by_the_clock(spark: Any) -> None:
    """What comes into view later stands where it arrived."""
    text = (
        "CREATE TABLE t (x INT, at TIMESTAMP); CREATE VIEW v AS SELECT collect_list(x) FILTER (WHERE at <= now())"
        " AS l, collect_list(CASE WHEN at > now() THEN x END) AS ahead FROM t;"
    )
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    rows = [(x, noon + timedelta(minutes=x)) for x in (3, 1, 2, 0)]
    with in_process(compile_program(text, "p.sql", session=spark)) as p:
        p.insert("t", rows)
        for minutes, left in ((0, {0}), (1, {0, 1}), (3, {0, 1, 2, 3})):
            p.step(noon + timedelta(minutes=minutes))
            (found,) = p["v"].rows()
            assert found["l"] == [x for x, _ in rows if x in left]
            assert found["ahead"] == [x for x, _ in rows if x not in left]


def test_on_spark(spark: Any) -> None:
    program = program_of("lists of a join")
    case, run = Case.of(program, spark), seeded_run(3, program, steps=2, most=9)
    laws.the_way_changes_no_byte(case, run, Way(runner="spark", partitions=3, spark=spark))


REFUSED = {
    "SELECT first(k) AS f FROM (SELECT DISTINCT k FROM e)": "over the rows of DISTINCT, by the order of arrival: ",
    "SELECT first(late) AS f FROM below": "over 'below', by the order of arrival: ",
    "SELECT k, first(n) AS f FROM (SELECT k, count(*) AS n FROM e GROUP BY k) GROUP BY k": "over the rows of AGGREGATE",
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_has_no_order_of_arrival(spark: Any, query: str) -> None:
    below = "CREATE VIEW below AS SELECT i AS late FROM e; LATENESS below.late 1;"
    text = f"{EVENTS.ddl} {below}\nCREATE VIEW v AS {query}"
    with pytest.raises(ProgramError) as raised:
        compile_program(text, "p.sql", session=spark)
    assert REFUSED[query] in str(raised.value)
    assert str(raised.value).startswith("p.sql:2:")


def test_a_view_that_is_looked_into_is_not_annotated_afterwards(spark: Any) -> None:
    text = f"{EVENTS.ddl} CREATE VIEW w AS SELECT i FROM e; CREATE VIEW v AS SELECT first(i) AS f FROM w;"
    with pytest.raises(ProgramError, match="LATENESS of 'w' must stand before the views that read it"):
        compile_program(f"{text} LATENESS w.i 1", session=spark)
