"""Statements are split and read by token; a query's text is kept as it is."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.text.create_table import CreateTable
from dbsp.sql.text.create_view import CreateView
from dbsp.sql.text.emission_clauses import EmitClause, TriggerClause
from dbsp.sql.text.source import read
from dbsp.sql.text.statements import InsertInto, Statement, statements


def parse(text: str) -> list[Statement]:
    return statements(read(text, "p.sql"))


def table(text: str) -> CreateTable:
    (found,) = parse(text)
    assert isinstance(found, CreateTable)
    return found


def test_a_table_with_everything() -> None:
    found = table(
        "CREATE TABLE t (a BIGINT NOT NULL COMMENT 'x, y',\n"
        "  `b c` ARRAY<STRUCT<d: INT, e: MAP<INT, DECIMAL(10, 2)>>>,\n"
        "  PRIMARY KEY (a, `b c`)) USING org.x.csv OPTIONS (path '/x', header = true, 'a.b' '1', c.d 2)\n"
        "  WITH (append_only = true, unchecked = FALSE)"
    )
    assert [(c.name, c.type.text, c.not_null) for c in found.columns] == [
        ("a", "BIGINT", True),
        ("b c", "ARRAY<STRUCT<d: INT, e: MAP<INT, DECIMAL(10, 2)>>>", False),
    ]
    assert found.primary_key == ("a", "b c")
    assert found.format == "org.x.csv"
    assert found.options == {"path": "/x", "header": "true", "a.b": "1", "c.d": "2"}
    assert found.properties == {"append_only": True, "unchecked": False}


def test_a_column_can_be_the_key() -> None:
    assert table("CREATE TABLE t (a INT PRIMARY KEY NOT NULL, b INT)").primary_key == ("a",)


def test_views_and_inserts_keep_their_query_as_written() -> None:
    query = "SELECT 'a;b' AS x, /* ; */ `c;d` -- ; e\n FROM t"
    found = parse(f"CREATE LOCAL VIEW v (x, y) AS {query} ;; -- bye\n INSERT INTO TABLE o {query}")
    view, insert = found
    assert isinstance(view, CreateView)
    assert isinstance(insert, InsertInto)
    assert (view.name, view.kind, view.columns) == ("v", "local", ("x", "y"))
    assert view.query.text == insert.query.text == query
    assert insert.target == "o"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CREATE TABLE t (a TIMESTAMP LATENESS)", "1:37: LATENESS needs a constant"),
        ("LATENESS v INTERVAL 1 HOUR", "1:12: expected ., found 'INTERVAL'"),
        (
            "CREATE RECURSIVE VIEW v AS SELECT 1",
            "1:25: recursive view 'v' needs its columns with their types",
        ),
        ("CREATE RECURSIVE VIEW v (a) AS SELECT 1", "1:27: column 'a' has no type"),
        ("CREATE RECURSIVE VIEW v (a INT, A INT) AS SELECT 1", "1:33: column 'A' is defined twice"),
        (
            "CREATE RECURSIVE VIEW v (a INT PRIMARY KEY) AS SELECT 1",
            "1:26: a column of a recursive view is name",
        ),
        ("CREATE RECURSIVE VIEW v (a INT) WITH (max = 1) AS SELECT 1", "1:39: unknown property 'max'"),
        (
            "CREATE RECURSIVE VIEW v (a INT) WITH (max_iterations = 0) AS SELECT 1",
            "1:39: max_iterations is a number from 1, not '0'",
        ),
        ("DECLARE RECURSIVE VIEW v (a INT)", "1:1: not supported yet: DECLARE RECURSIVE VIEW; write CREATE"),
        ("CREATE FUNCTION f AS 'x'", "1:19: expected (, found 'AS'"),
        ("CREATE VIEW v AS\nSELECT 1 TRIGGER COUNTING 0", "2:27: COUNTING 0: at least 1 record is needed"),
        ("CREATE VIEW v AS SELECT 1 TRIGGER COUNTING -3", "1:44: COUNTING -3: at least 1 record is needed"),
        ("CREATE VIEW v AS SELECT 1 TRIGGER COUNTING 2.5", "1:44: COUNTING needs a whole number, as in COUN"),
        ("CREATE VIEW v AS SELECT 1 TRIGGER COUNTING 1, COUNTING 2", "1:47: COUNTING is given twice"),
        (
            "CREATE VIEW v AS SELECT 1 TRIGGER COUNTING 1, DAILY",
            "1:47: unknown trigger 'DAILY'; triggers are",
        ),
        ("CREATE VIEW v AS SELECT 1 TRIGGER AFTER DELAY", "1:46: AFTER DELAY needs an interval"),
        ("CREATE VIEW v AS SELECT 1 TRIGGER ON WATERLINE x", "1:48: TRIGGER ends the statement, found 'x'"),
        ("CREATE LOCAL VIEW v AS SELECT 1 TRIGGER COUNTING 1", "1:33: view 'v' is LOCAL: nothing of it leav"),
        ("INSERT INTO o SELECT 1 TRIGGER COUNTING 1", "1:24: TRIGGER belongs to a view: CREATE VIEW v AS"),
        ("CREATE VIEW v AS SELECT 1 EMIT (UPDATE RATE 0 ROWS)", "1:45: UPDATE RATE 0: at least 1 record"),
        (
            "CREATE VIEW v AS SELECT 1 EMIT (LATE UPDATES MAYBE)",
            "1:33: unknown option 'LATE' of EMIT; options",
        ),
        (
            "CREATE VIEW v AS SELECT 1 EMIT (UPDATE RATE 1 ROW, UPDATE RATE 2 ROWS)",
            "1:52: UPDATE RATE is given",
        ),
        ("CREATE VIEW v AS SELECT 1 EMIT (RESULT STATE FLAG", "1:50: expected ), found the end"),
        (
            "CREATE RECURSIVE VIEW v (a INT) AS SELECT 1 TRIGGER COUNTING 1",
            "1:45: not supported yet: TRIGGER on",
        ),
        ("CREATE VIEW v AS SELECT 1 EMIT CHANGES", "1:27: not supported: EMIT CHANGES; write TRIGGER"),
        ("CREATE TABLE t AS SELECT 1", "1:16: CREATE TABLE AS copies rows once; write CREATE VIEW t AS"),
        ("CREATE TABLE t (a INT) PARTITIONED BY (b)", "1:40: PARTITIONED BY names an unknown column 'b'"),
        ("CREATE TABLE t (a INT) ROW FORMAT DELIMITED", "1:24: not supported: ROW FORMAT; write USING csv"),
        ("CREATE TABLE t (a INT) DEFAULT COLLATION UNICODE", "1:42: not supported yet: collation UNICODE"),
        ("CREATE TABLE t (a INT MASK f)", "1:23: not supported: a column mask; write a view"),
        ("CREATE TEMPORARY TABLE t (a INT)", "1:1: unknown statement 'CREATE TEMPORARY'"),
        (
            "CREATE VIEW v (CONSTRAINT c EXPECT a > 0) AS SELECT 1",
            "1:36: expectation 'c' has its condition in",
        ),
        (
            "CREATE VIEW v (CONSTRAINT c EXPECT (a > 0) ON VIOLATION STOP) AS SELECT 1",
            "1:57: unknown violation 'STOP'; ON VIOLATION is DROP ROW or FAIL UPDATE",
        ),
        ("SET VAR x = 1", "1:5: not supported yet: SET VARIABLE; write the value"),
        (
            "CREATE TABLE s.t (a INT); DROP TABLE IF EXISTS s.t",
            "1:48: DROP of 's.t', which the program defines: leave out one of the two",
        ),
        ("SELECT 1", "1:1: unknown statement 'SELECT'"),
        ("CREATE INDEX i", "1:1: unknown statement 'CREATE INDEX'"),
        ("CREATE VIEW v AS", "1:17: expected a query, found the end"),
        ("CREATE VIEW v AS DROP TABLE t", "1:18: expected a query, found 'DROP'"),
        ("CREATE TABLE t", "1:15: table 't' needs its columns"),
        ("CREATE TABLE t (a)", "1:18: column 'a' has no type"),
        ("CREATE TABLE t (a INT, A INT)", "1:24: column 'A' is defined twice"),
        ("CREATE TABLE t (a INT PRIMARY KEY, PRIMARY KEY (a))", "1:36: table 't' has two primary keys"),
        ("CREATE TABLE t (a INT UNIQUE)", "1:23: column 'a': unknown clause 'UNIQUE'"),
        ("CREATE TABLE t (a INT DEFAULT 3 DEFAULT 4)", "1:33: column 'a' has a DEFAULT already"),
        ("CREATE TABLE t (a INT DEFAULT, b INT)", "1:30: DEFAULT needs a constant, as in DEFAULT now()"),
        ("CREATE TABLE t (a INT) OPTIONS (path 'x')", "1:42: OPTIONS needs USING format"),
        (
            "CREATE TABLE t (a INT) WITH (append = true)",
            "1:30: unknown property 'append'; properties: append_only",
        ),
        (
            "CREATE TABLE t (a INT) WITH (unchecked = 1)",
            "1:30: property 'unchecked' is true or false, n",
        ),
        ("INSERT INTO t VALUES (1)", "1:15: INSERT INTO ... VALUES is for replay files"),
    ],
)
def test_what_is_no_statement_is_refused_by_name_and_place(text: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        parse(text)
    assert str(raised.value).startswith(f"p.sql:{error}")


@pytest.mark.parametrize("query", ["SELECT stream FROM t", "SELECT stream, a FROM t", "SELECT emit FROM t"])
def test_words_of_extensions_are_names_elsewhere(query: str) -> None:
    (view,) = parse(f"CREATE VIEW v AS {query}")
    assert isinstance(view, CreateView)
    assert view.query.text == query


@pytest.mark.parametrize(
    "query",
    [
        "SELECT emit FROM t",
        "SELECT trigger.a FROM t JOIN u trigger ON trigger.a = t.a",
        "SELECT a AS trigger FROM (SELECT 1 AS a EMIT) q",
        "SELECT a FROM t emit (a, b)",
    ],
)
def test_the_words_of_emission_are_names_elsewhere(query: str) -> None:
    (view,) = parse(f"CREATE VIEW v AS {query}")
    assert isinstance(view, CreateView)
    assert (view.query.text, view.emission) == (query, None)


def test_when_changes_leave_ends_a_view() -> None:
    first, second = parse(
        "CREATE VIEW v AS SELECT a FROM t trigger TRIGGER ON WATERMARK, counting 3, "
        "AFTER DELAY INTERVAL (2) DAY;"
        "CREATE VIEW w AS SELECT a FROM emit EMIT ("
        "FIRST RESULT OFFSET - INTERVAL '1' HOUR, UPDATE RATE 5 rows)"
    )
    assert isinstance(first, CreateView)
    assert isinstance(first.emission, TriggerClause)
    assert first.query.text == "SELECT a FROM t trigger"
    assert (first.emission.counting, first.emission.waterline) == (3, True)
    assert first.emission.delay is not None
    assert first.emission.delay.text == "INTERVAL (2) DAY"
    assert isinstance(second, CreateView)
    assert isinstance(second.emission, EmitClause)
    assert second.query.text == "SELECT a FROM emit"
    assert second.emission.first is not None
    assert (second.emission.first.text, second.emission.rate) == ("- INTERVAL '1' HOUR", 5)
