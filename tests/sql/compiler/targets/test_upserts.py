"""A standing UPSERT INTO: its target is what DuckDB's is into which the rows that are there are upserted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.steps.contents import contents
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program
from tests.effort import examples

pytestmark = pytest.mark.spark

TABLES = """
CREATE STREAM orders (id INT NOT NULL, units INT);
CREATE TABLE bag (id INT NOT NULL, units INT);
CREATE TABLE known (id INT PRIMARY KEY, name STRING);
CREATE VIEW large AS SELECT * FROM bag WHERE units > 0;
CREATE TABLE of_stream (id INT PRIMARY KEY, units INT, __op STRING) USING noop;
CREATE TABLE of_bag (id INT PRIMARY KEY, units INT, __op STRING) USING noop;
CREATE TABLE of_view (id INT PRIMARY KEY, units INT, __op STRING) USING noop;
CREATE TABLE of_join (id INT PRIMARY KEY, units INT, __op STRING) USING noop;
CREATE TABLE of_groups (id INT PRIMARY KEY, units BIGINT, __op STRING) USING noop;
CREATE TABLE of_meeting (id INT PRIMARY KEY, name STRING, __op STRING) USING noop;
CREATE TABLE written (id INT PRIMARY KEY, units BIGINT, __op STRING) USING noop;
"""
PROGRAM = f"""{TABLES}
UPSERT INTO of_stream SELECT STREAM id, units FROM orders WHERE id < 2;
UPSERT INTO of_bag (units, id) SELECT units, id FROM bag;
UPSERT INTO TABLE of_view SELECT * FROM large;
UPSERT INTO of_join BY NAME SELECT b.units, k.id FROM bag b JOIN known k ON b.id = k.id;
UPSERT INTO of_groups SELECT id, sum(units) FROM bag GROUP BY id;
UPSERT INTO of_meeting SELECT STREAM o.id, k.name FROM orders o LEFT JOIN known k ON o.units = k.id;
INSERT INTO written SELECT id, sum(units) FROM bag GROUP BY id;
"""
rows = st.tuples(st.integers(0, 2), st.sampled_from([0, 1, 2, None]))
steps_of = st.lists(
    st.tuples(st.lists(rows, max_size=4), st.lists(st.integers(0, 9), max_size=2)), min_size=1, max_size=4
)


@pytest.fixture(scope="module")
def compiled(spark: Any) -> Program:
    return compile_program(PROGRAM, session=spark)


def held(p: Pipeline, target: str) -> dict[int, Any]:
    """The target's rows, by key: what has been written to it adds up to them."""
    (insert,) = (one for one in p.program.inserts if one.target == target)
    there = contents(p.program.circuit, p._position.state, insert.view, p.store.segments)
    assert (there.weights == 1).all()
    columns = [there.rows.column(i).to_pylist() for i in insert.columns if i is not None]
    found = dict(zip(*columns, strict=True))
    assert len(found) == len(there)
    return found


def last(rows: list[tuple[int, Any]], value: str = "INT") -> dict[int, Any]:
    """What DuckDB has of them, upserted one after the other. value: its type."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE target (id INT PRIMARY KEY, value {value})")
    for row in rows:
        connection.execute("INSERT OR REPLACE INTO target VALUES (?, ?)", row)
    return dict(connection.execute("SELECT * FROM target").fetchall())


def meeting(known: list[tuple[int, str]], came: list[tuple[int, Any]]) -> list[tuple[int, str | None]]:
    """What a stream's rows meet when they come, in their order, as DuckDB joins them."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE known (id INT, name VARCHAR); CREATE TABLE came (n INT, id INT, units INT)"
    )
    for row in known:
        connection.execute("INSERT INTO known VALUES (?, ?)", row)
    for n, (id_, units) in enumerate(came):
        connection.execute("INSERT INTO came VALUES (?, ?, ?)", (n, id_, units))
    join = "SELECT o.id, k.name FROM came o LEFT JOIN known k ON o.units = k.id ORDER BY o.n"
    return connection.execute(join).fetchall()


@examples(15)
@given(steps=steps_of, partitions=st.integers(1, 3))
def test_it_has_the_last_row_of_each_key(compiled: Program, steps: list[Any], partitions: int) -> None:
    ordered: list[tuple[int, Any]] = []
    there: list[tuple[int, Any]] = []
    met: list[tuple[int, Any]] = []
    with Pipeline(compiled, runner="inline", partitions=partitions) as p:
        for number, (came, going) in enumerate(steps):
            known = [(1, f"a{number}"), (2, "b")]
            p.upsert("known", known)
            gone = [there[at % len(there)] for at in going] if there else []
            gone = [row for at, row in enumerate(gone) if gone[:at].count(row) < there.count(row)]
            p.insert("orders", came)
            p.insert("bag", came)
            p.delete("bag", gone)
            p.step()
            ordered += came
            there += came
            for row in gone:
                there.remove(row)  # the earliest
            assert held(p, "of_stream") == last([row for row in ordered if row[0] < 2])
            met += meeting(known, came)
            assert held(p, "of_meeting") == last(met, "VARCHAR")
            assert held(p, "of_bag") == last(there)
            assert held(p, "of_view") == last([row for row in there if row[1]])
            assert held(p, "of_join") == last([row for row in there if row[0]])
            assert held(p, "of_groups") == held(p, "written")


def test_one_row_a_key_is_inserted(compiled: Program) -> None:
    """Where no key has several rows, nothing is to be chosen."""
    plans = {insert.target: compiled.views[insert.view].plan for insert in compiled.inserts}
    assert plans["of_groups"] == plans["written"]
    assert all(insert.shape == "upsert" for insert in compiled.inserts)


def test_it_goes_on_from_a_state(compiled: Program, tmp_path: Path) -> None:
    for n in range(3):
        with Pipeline(compiled, state=tmp_path / "s", runner="inline") as p:
            p.insert("orders", [(0, n), (1, 5)])
            p.step()
            assert held(p, "of_stream") == {0: n, 1: 5}


REFUSED = {
    "CREATE TABLE t (id INT, n INT) USING noop; UPSERT INTO t SELECT id, units FROM bag": (
        "1:44: UPSERT INTO 't' keeps the last row of each key, and it has none; declare PRIMARY KEY (...) in "
        "'t', or write INSERT INTO"
    ),
    "UPSERT INTO of_bag SELECT id, units FROM bag GROUP BY id, units": (
        "1:20: UPSERT INTO 'of_bag': a key (id) could have several rows, which came in no order, as those of "
        "a table and what filters, joins or unites them do; declare PRIMARY KEY (id, units), or choose one, "
        "as by max_by(x, time) ... GROUP BY or QUALIFY row_number() OVER (...) = 1"
    ),
    "CREATE STREAM s (id INT, ts TIMESTAMP LATENESS INTERVAL 1 MINUTE); "
    "CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP, n BIGINT) USING noop; UPSERT INTO t "
    "SELECT STREAM id, window.start, count(*) FROM s WHERE id > 0 GROUP BY id, window(ts, '1 hour')": (
        "which leave when they are final, whichever is first; declare PRIMARY KEY (id, at)"
    ),
    "UPSERT INTO of_bag VALUES (1, 2)": "1:20: UPSERT INTO ... VALUES is for replay files",
    "UPSERT INTO bag SELECT id, units FROM orders": "1:1: table 'bag' has no USING",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_last_row_is_refused(spark: Any, text: str) -> None:
    line = TABLES.count("\n") + 1  # of the text, which is all in one
    with pytest.raises(ProgramError) as error:
        compile_program(f"{TABLES}{text};", session=spark)
    assert REFUSED[text].replace("1:", f"{line}:", 1) in str(error.value)
