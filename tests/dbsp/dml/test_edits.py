"""What statements change: what DuckDB changes by the same, step after step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import DataError, ProgramError, StateError
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.zset import ZSet
from dbsp.dml.keys import KeyThere
from dbsp.dml.reading.statements import read_statement
from dbsp.pipeline.pipeline import Pipeline
from tests.dbsp.narrow import narrow_all
from tests.effort import examples

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = """
CREATE TABLE bag (a BIGINT, b INT, s STRING);
CREATE TABLE keyed (k BIGINT NOT NULL, b INT, s STRING, PRIMARY KEY (k));
CREATE TABLE log (a BIGINT) WITH (append_only = true);
CREATE TABLE filled (k BIGINT PRIMARY KEY, n INT DEFAULT 7, s STRING NOT NULL);
CREATE TABLE passing (a BIGINT LATENESS 1);
CREATE VIEW passed AS SELECT a, count(*) AS n FROM passing GROUP BY a;
CREATE VIEW sums AS SELECT s, sum(b) AS b, count(*) AS n FROM bag GROUP BY s;
CREATE VIEW doubled AS SELECT k, b * 2 AS b FROM keyed;
CREATE VIEW logged AS SELECT a + 1 AS a FROM log;
CREATE VIEW fills AS SELECT * FROM filled;
"""
TABLES = """
CREATE TABLE bag (a BIGINT, b INT, s VARCHAR);
CREATE TABLE keyed (k BIGINT PRIMARY KEY, b INT, s VARCHAR);
CREATE VIEW sums AS SELECT s, sum(b) AS b, count(*) AS n FROM bag GROUP BY s;
CREATE VIEW doubled AS SELECT k, b * 2 AS b FROM keyed;
"""


@pytest.fixture(scope="module")
def p() -> Iterator[Pipeline]:
    with Pipeline(sql=PROGRAM, runner="inline") as opened:
        yield opened


# few of each, so that queries are compiled once
CONDITIONS = {
    "bag": [
        "",
        "a = {}",
        "s = 'x' AND b = {}",
        "b > {}",
        "s IS NULL",
        "a IN (SELECT k FROM keyed)",
        "b NOT IN (SELECT b FROM keyed WHERE k > {})",
        "a IN (SELECT k FROM keyed WHERE k = {}) AND b > 1",
        "EXISTS (SELECT 1 FROM keyed AS o WHERE o.k = bag.a AND o.b < bag.b)",
        "b = (SELECT max(b) FROM keyed WHERE k < {})",
        "b + a < {}",
    ],
    "keyed": [
        "",
        "k = {}",
        "b = {}",
        "k BETWEEN 1 AND {}",
        "k IN (SELECT n FROM sums)",
        "s LIKE '%x'",
        "k IN (1, {}) AND b <> 2",
        "k = {} AND b > 0",
        "EXISTS (SELECT 1 FROM bag AS o WHERE o.a = keyed.k AND o.b = {})",
        "NOT EXISTS (SELECT 1 FROM bag AS o WHERE o.a = keyed.k)",
    ],
}
ASSIGNED = ["b = {}", "b = b + 1", "s = NULL", "s = s || 'x', b = NULL", "b = {}, s = 'y'"]
NUMBERS = st.integers(0, 3)


@st.composite
def statements(draw: Any) -> str:
    table = draw(st.sampled_from(["bag", "keyed"]))
    condition = draw(st.sampled_from(CONDITIONS[table])).format(draw(NUMBERS))
    where = f" WHERE {condition}" if condition else ""
    verb = draw(st.sampled_from(["insert", "insert", "query", "update", "update", "delete"]))
    if verb == "delete":
        return f"DELETE FROM {table}{where}"
    if verb == "update":
        return f"UPDATE {table} SET {draw(st.sampled_from(ASSIGNED)).format(draw(NUMBERS))}{where}"
    if verb == "query" and table == "bag":
        named = "BY NAME SELECT s, k AS A, b FROM keyed"
        return f"INSERT INTO bag {draw(st.sampled_from(['SELECT k, b, s FROM keyed', named]))}"
    keys = draw(st.lists(NUMBERS, min_size=1, max_size=3, unique=True))
    text = st.sampled_from(["'x'", "'y'", "NULL"])
    rows = ", ".join(f"({key}, {draw(NUMBERS)}, {draw(text)})" for key in keys)
    conflict = ""
    if table == "keyed":
        conflict = draw(
            st.sampled_from([" ON CONFLICT (k) DO NOTHING", " ON CONFLICT (k) DO UPDATE SET b = EXCLUDED.b"])
        )
    return f"INSERT INTO {table} VALUES {rows}{conflict}"


@examples(60)
@given(
    steps=st.lists(st.lists(statements(), min_size=1, max_size=3), min_size=1, max_size=4),
    is_narrowed=st.booleans(),
)
def test_a_transaction_changes_what_duckdb_changes(
    p: Pipeline, steps: list[list[str]], is_narrowed: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if is_narrowed:
            narrow_all(patch)
        _changes_what_duckdb_changes(p, steps)


def _changes_what_duckdb_changes(p: Pipeline, steps: list[list[str]]) -> None:
    database = duckdb.connect()
    database.execute(TABLES)
    for table in ("bag", "keyed"):
        p.sql(f"DELETE FROM {table}")
    p.step()
    for step in steps:
        edits = p.edits(strict=True)
        for statement in step:
            (expected,) = database.execute(statement).fetchall()[0]
            assert edits.run(read_statement(statement, p.program)) == expected, steps
        edits.queue(p.change)
        p.step()
        for name in ("bag", "keyed", "sums", "doubled"):
            there = database.execute(f"SELECT * FROM {name}").fetchall()
            held = [tuple(row.values()) for row in p[name].rows()]
            assert sorted(held, key=repr) == sorted(there, key=repr), (name, steps)


def test_a_statement_is_queued_and_counted(p: Pipeline) -> None:
    p.sql("TRUNCATE bag")
    p.step()
    assert p.sql("INSERT INTO bag (s, a) VALUES ('x', 1), ('y', 1 + 1)").rows() == [{"num_affected_rows": 2}]
    assert p.sql("SELECT count(*) AS n FROM bag").rows() == [{"n": 0}]
    p.step()
    assert p["bag"].rows() == [{"a": 1, "b": None, "s": "x"}, {"a": 2, "b": None, "s": "y"}]
    p.sql("UPDATE bag AS t SET a = t.a + 10 WHERE t.s = 'x'")
    p.discard()
    p.step()
    assert p.sql("SELECT max(a) AS a FROM bag").rows() == [{"a": 2}]


def test_a_present_key_is_replaced_unless_strictly(p: Pipeline) -> None:
    p.sql("TRUNCATE keyed")
    p.sql("INSERT INTO keyed VALUES (1, 1, 'a')")
    p.step()
    p.sql("INSERT INTO keyed VALUES (1, 2, 'b')")
    p.step()
    assert p["keyed"].rows() == [{"k": 1, "b": 2, "s": "b"}]
    edits = p.edits(strict=True)
    with pytest.raises(KeyThere, match="table 'keyed' has a row with the key k=1 already"):
        edits.run(read_statement("INSERT INTO keyed VALUES (2, 2, 'b'), (1, 3, 'c')", p.program))
    assert edits.changes == []
    many = ", ".join(f"({i}, 0, '')" for i in range(2, 40))
    assert edits.run(read_statement(f"INSERT INTO keyed VALUES {many}", p.program)) == 38
    with pytest.raises(KeyThere, match=r"k=\d+ already"):
        edits.run(read_statement(f"INSERT INTO keyed VALUES {many}", p.program))


def test_an_update_takes_no_other_row_s_key(p: Pipeline) -> None:
    p.sql("TRUNCATE keyed")
    p.sql("INSERT INTO keyed VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')")
    p.step()
    for statement, said in (
        ("UPDATE keyed SET k = 2 WHERE k = 1", "has a row with the key k=2 already"),
        ("UPDATE keyed SET k = 9", "two of the rows have the same key"),
        ("UPDATE keyed SET k = k + 1 WHERE k < 3", "has a row with the key k=3 already"),
    ):
        with pytest.raises(KeyThere, match=said):
            p.sql(statement)
    p.sql("UPDATE keyed SET k = k + 1")  # all of them move
    p.step()
    assert [row["k"] for row in p["keyed"].rows()] == [2, 3, 4]
    p.sql("UPDATE keyed SET k = 2, b = 7 WHERE k = 2")
    p.step()
    assert p["keyed"].lookup(2) == [{"k": 2, "b": 7, "s": "a"}]


def test_defaults_and_columns_that_are_left_out(p: Pipeline) -> None:
    p.sql("INSERT INTO filled (k, s) VALUES (1, 'a')")
    p.sql("INSERT INTO filled (s, k) SELECT 'b', 2")
    p.step()
    assert p["filled"].rows() == [{"k": 1, "n": 7, "s": "a"}, {"k": 2, "n": 7, "s": "b"}]
    edits = p.edits()
    said = ("INSERT INTO filled (k, s) VALUES (3, 'c')", "UPDATE filled SET s = 'd' WHERE n = 7")
    assert [edits.run(read_statement(one, p.program)) for one in said] == [1, 3]
    p.step()
    p.sql("INSERT INTO filled VALUES (5, 9, 'e'), (6, DEFAULT, 'f'), (6 + 1, DEFAULT, 'g')")
    p.step()
    p.sql("UPDATE filled SET n = DEFAULT WHERE k = 5")
    p.sql("UPDATE filled f SET f.n = DEFAULT, s = upper(s) WHERE k = 6")
    p.sql(
        "MERGE INTO filled USING (VALUES (7), (8)) AS x(k) ON x.k = filled.k "
        "WHEN MATCHED THEN UPDATE SET n = DEFAULT WHEN NOT MATCHED THEN INSERT VALUES (x.k, DEFAULT, 'h')"
    )
    p.step()
    assert p.sql("SELECT k, n, s FROM filled WHERE k > 4 ORDER BY k").rows() == [
        {"k": 5, "n": 7, "s": "e"},
        {"k": 6, "n": 7, "s": "F"},
        {"k": 7, "n": 7, "s": "g"},
        {"k": 8, "n": 7, "s": "h"},
    ]
    p.sql("INSERT INTO TABLE filled BY NAME SELECT 'i' AS S, 9 AS k")
    p.step()
    assert p["filled"].lookup(9) == [{"k": 9, "n": 7, "s": "i"}]
    with pytest.raises(DataError, match="table 'filled' has no column 'm'; columns: k, n, s"):
        p.sql("INSERT INTO filled BY NAME SELECT 9 AS k, 1 AS m")
    with pytest.raises(DataError, match="column 's'"):
        p.sql("INSERT INTO filled (k) VALUES (3)")
    with pytest.raises(DataError, match="column 's'"):
        p.sql("UPDATE filled SET s = NULL")


def test_what_can_t_be_changed_is_said(p: Pipeline) -> None:
    p.sql("INSERT INTO log VALUES (1)")
    p.step()
    for statement, kind, said in (
        ("DELETE FROM log", DataError, "table 'log' is append-only"),
        ("INSERT INTO bag SELECT a, 1, '' FROM log", ProgramError, "unknown table 'log'"),
        ("UPDATE sums SET n = 1", ProgramError, "'sums' is a view"),
        ("DELETE FROM keyed WHERE nothing = 1", ProgramError, "nothing"),
        ("INSERT INTO keyed SELECT 1", ProgramError, "column"),
    ):
        with pytest.raises(kind, match=said):
            p.sql(statement)
    for statement in (
        "DELETE FROM passing WHERE a > 1",
        "UPDATE passing SET a = a + 1 WHERE a > 1",
        "MERGE INTO passing USING keyed ON a = 1 WHEN MATCHED THEN DELETE",
    ):
        with pytest.raises(StateError, match="table 'passing' has a LATENESS, and lets rows go; a view"):
            p.sql(statement)
    with pytest.raises(DataError, match="as_of is of a query"):
        p.sql("DELETE FROM bag", as_of=1)
    with pytest.raises(StateError, match="table 'log' is kept by nothing; a view SELECT"):
        p["log"]
    assert p.queued == {}


SPANS = """
CREATE TABLE spans (
  id INT, n INT DEFAULT 0 CHECK (n < 9), ym INTERVAL YEAR TO MONTH, many ARRAY<INTERVAL YEAR TO MONTH>,
  PRIMARY KEY (id)
);
CREATE VIEW v AS SELECT id, n, CAST(ym AS STRING) AS ym, CAST(many[0] AS STRING) AS first FROM spans;
"""


def test_months_stay_what_they_are() -> None:
    with Pipeline(sql=SPANS, runner="inline") as p:
        p.insert("spans", [(1, 1, 14, [3])])
        p.step()
        for statement in (
            "UPDATE spans SET n = 2 WHERE id = 1",
            "INSERT INTO spans SELECT id + 1, n, ym, many FROM spans",
            "INSERT INTO spans (id, ym) SELECT 3, ym + INTERVAL '1' MONTH FROM spans WHERE id = 1",
            "UPDATE spans SET ym = ym * 2, many = array(ym) WHERE id = 2",
            "MERGE INTO spans t USING spans s ON t.id = s.id + 10 "
            "WHEN NOT MATCHED AND s.id = 1 THEN INSERT (id, n, ym, many) VALUES (4, 4, s.ym, s.many)",
        ):
            p.sql(statement)
            p.step()
        assert [tuple(row.values()) for row in p["v"].rows()] == [
            (1, 2, "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '0-3' YEAR TO MONTH"),
            (2, 2, "INTERVAL '2-4' YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH"),
            (3, 0, "INTERVAL '1-3' YEAR TO MONTH", None),
            (4, 4, "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '0-3' YEAR TO MONTH"),
        ]
        given = {"id": [5], "n": [1], "ym": pa.array([14], pa.duration("s")), "many": pa.nulls(1)}
        with pytest.raises(DataError, match="is no interval of months; cast it"):
            p.insert("spans", pa.table(given))


LARGE = """
CREATE TABLE stock (id BIGINT PRIMARY KEY, kind INT, amount INT);
CREATE TABLE moved (kind BIGINT, amount INT);
CREATE TABLE kinds (id INT PRIMARY KEY, name STRING);
CREATE VIEW all_stock AS SELECT * FROM stock;
CREATE VIEW all_moved AS SELECT * FROM moved;
CREATE VIEW all_kinds AS SELECT * FROM kinds;
"""
MANY = 6000


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("UPDATE stock SET amount = amount + 1 WHERE id = 7 AND kind < 9999", 1),
        ("UPDATE stock SET amount = 1 WHERE id IN (7, 8, -1)", 2),
        ("UPDATE stock SET amount = 1 WHERE kind IN (SELECT id FROM kinds WHERE id = 7)", 2),
        (
            "UPDATE stock SET amount = 1 WHERE EXISTS (SELECT 1 FROM kinds k WHERE k.id = kind AND k.id = 7)",
            2,
        ),
        ("UPDATE stock SET amount = 1 WHERE kind = (SELECT max(id) FROM kinds WHERE id = 7)", 2),
        ("UPDATE stock SET amount = 1 FROM kinds k WHERE k.id = stock.kind AND k.name = 'k 7'", 2),
        ("DELETE FROM moved WHERE kind IN (SELECT id FROM kinds WHERE name = 'k 7')", 2),
        (
            "DELETE FROM moved WHERE EXISTS (SELECT 1 FROM kinds k WHERE k.id = moved.kind AND k.id = 7 "
            "AND k.id > moved.amount)",
            2,
        ),
        ("DELETE FROM kinds WHERE id IN (SELECT kind FROM stock WHERE id = 7)", 1),
        (
            "MERGE INTO stock t USING (VALUES (7, 5), (-1, 5)) AS s(id, n) ON t.id = s.id "
            "WHEN MATCHED AND n > 9 THEN DELETE WHEN MATCHED THEN UPDATE SET amount = n "
            "WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1, n)",
            2,
        ),
        (
            "MERGE INTO moved t USING (SELECT id FROM kinds WHERE id = 7) s ON t.kind = s.id "
            "WHEN MATCHED AND t.amount > 9 THEN DELETE WHEN MATCHED THEN UPDATE SET amount = 1",
            2,
        ),
        (
            "MERGE INTO stock t USING moved s ON t.id = s.kind AND s.kind = 7 AND s.amount = 0 "
            "WHEN NOT MATCHED BY SOURCE AND t.id = 9 THEN DELETE",
            1,
        ),
        ("INSERT INTO stock SELECT id + 100000, id, 0 FROM kinds WHERE id = 7", 1),
        (f"INSERT INTO stock VALUES {', '.join(f'({-i - 1}, 0, 0)' for i in range(40))}", 40),
    ],
)
def test_a_statement_looks_at_the_rows_that_it_is_about(
    large: Pipeline, statement: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []

    def build(layout: Layout, delta: ZSet, seed: int) -> Batch:
        built.append(len(delta))
        return make(layout, delta, seed)

    make = Batch.build
    monkeypatch.setattr(Batch, "build", staticmethod(build))
    edits = large.edits(strict=True)
    assert edits.run(read_statement(statement, large.program)) == count
    assert max(built, default=0) <= 100


@pytest.fixture(scope="module")
def large() -> Iterator[Pipeline]:
    with Pipeline(sql=LARGE, runner="inline") as opened:
        numbers = [*range(MANY)]
        opened.insert(
            "stock", pa.table({"id": numbers, "kind": [i % 3000 for i in numbers], "amount": numbers})
        )
        opened.insert("moved", pa.table({"kind": [i % 3000 for i in numbers], "amount": [0] * MANY}))
        opened.insert("kinds", pa.table({"id": numbers[:3000], "name": [f"k {i}" for i in numbers[:3000]]}))
        opened.step()
        yield opened


def test_what_a_merge_does_to_rows_without_a_source_reads_the_table(large: Pipeline) -> None:
    edits = large.edits()
    statement = (
        "MERGE INTO stock t USING (VALUES (7)) AS s(id) ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    assert edits.run(read_statement(statement, large.program)) == MANY - 1
    assert edits.contents("stock").rows() == [{"id": 7, "kind": 7, "amount": 7}]
    twice = "MERGE INTO moved t USING (VALUES (7), (7)) AS s(id) ON t.kind = s.id WHEN MATCHED THEN "
    with pytest.raises(DataError, match="several rows of the source match the row kind=7, amount=0"):
        edits.run(read_statement(twice + "UPDATE SET amount = 1", large.program))
    assert edits.run(read_statement(twice + "DELETE", large.program)) == 2
    assert len(edits.contents("moved")) == MANY - 2


NAMES = """
CREATE TABLE t (id INT, `c``c` INT, PRIMARY KEY (id));
CREATE TABLE `u``u` (id INT);
CREATE VIEW v AS SELECT * FROM t;
CREATE VIEW w AS SELECT * FROM `u``u`;
"""


def test_names_may_have_backticks() -> None:
    with Pipeline(sql=NAMES, runner="inline") as p:
        p.insert("t", [(1, 2)])
        p.insert("u`u", [(1,), (7,)])
        p.step()
        for statement in (
            "INSERT INTO t SELECT id + 1, `c``c` FROM t",
            "UPDATE t AS `x``x` SET `c``c` = `x``x`.`c``c` + 1 WHERE `x``x`.id > 1",
            "UPDATE `u``u` SET id = id + 1 WHERE id > 2",
            "DELETE FROM `u``u` WHERE id < 2",
            "MERGE INTO t USING `u``u` ON t.id = `u``u`.id "
            "WHEN NOT MATCHED THEN INSERT (id, `c``c`) VALUES (`u``u`.id, 0)",
            "MERGE INTO t USING t AS `s``s` ON `s``s`.id = t.id AND t.id = 1 "
            "WHEN MATCHED THEN UPDATE SET `c``c` = 5",
            "MERGE INTO `u``u` USING t AS `s``s` ON `s``s`.id = `u``u`.id WHEN NOT MATCHED AND id = 2 "
            "THEN INSERT *",
        ):
            p.sql(statement)
            p.step()
        assert [tuple(row.values()) for row in p["v"].rows()] == [(1, 5), (2, 3), (8, 0)]
        assert p["w"].rows() == [{"id": 2}, {"id": 8}]
