"""Statements are split and read by token; a query's text is kept as it is."""

from __future__ import annotations

import pytest

from dbsp.sql.text.statements.create_function import CreateFunction
from dbsp.sql.text.statements.create_table import CreateTable
from dbsp.sql.text.statements.create_view import CreateRecursiveView, CreateView
from dbsp.sql.text.statements.statements import InsertInto, has_lateness
from tests.sql.text.reading import check_refused, only, parse


def test_views_and_inserts_keep_their_query_as_written() -> None:
    query = "SELECT 'a;b' AS x, /* ; */ `c;d` -- ; e\n FROM t"
    found = parse(f"CREATE LOCAL VIEW v (x, y) AS {query} ;; -- bye\n INSERT INTO TABLE o {query}")
    view, insert = found
    assert isinstance(view, CreateView)
    assert isinstance(insert, InsertInto)
    assert (view.name, view.kind, view.columns) == ("v", "local", ("x", "y"))
    assert view.query.text == insert.query.text == query
    assert insert.target == "o"


def test_each_statement_is_known_by_its_first_words() -> None:
    found = parse(
        "CREATE TABLE t (a INT); CREATE STREAM s (a INT);"
        "create aggregate function f(x INT) returns INT language python as $$ return 1; $$;"
        "CREATE MATERIALIZED RECURSIVE VIEW r (a INT) AS SELECT * FROM r; INSERT INTO t TABLE s"
    )
    kinds = [CreateTable, CreateTable, CreateFunction, CreateRecursiveView, InsertInto]
    assert [type(statement) for statement in found] == kinds


def test_columns_of_an_insert_are_no_query_in_parentheses() -> None:
    assert only("INSERT INTO o BY NAME SELECT 1 AS a").by_name
    listed, nested = only("INSERT INTO o (a, `b c`) SELECT 1, 2"), only("INSERT INTO o (SELECT 1)")
    assert isinstance(listed, InsertInto)
    assert isinstance(nested, InsertInto)
    assert listed.columns is not None
    assert [column.text for column in listed.columns] == ["a", "b c"]
    assert (nested.columns, nested.query.text) == (None, "(SELECT 1)")


def test_an_insert_by_name_lists_nothing() -> None:
    insert = only("INSERT INTO o BY NAME SELECT 1 AS a")
    assert isinstance(insert, InsertInto)
    assert (insert.columns, insert.by_name, insert.query.text) == (None, True, "SELECT 1 AS a")


def test_a_table_is_replaced_by_its_definition() -> None:
    table = only("REPLACE TABLE t (a INT)")
    assert isinstance(table, CreateTable)
    assert table.name == "t"


def test_who_declares_lateness() -> None:
    table, other, late, view = parse(
        "CREATE TABLE t (a INT, ts TIMESTAMP LATENESS INTERVAL 1 HOUR); CREATE TABLE u (a INT);"
        "LATENESS v.a 3; CREATE VIEW v AS SELECT lateness FROM t"
    )
    assert [*map(has_lateness, (table, other, late, view))] == [True, False, True, False]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("START x", "1:1: unknown statement 'START'; statements are CREATE TABLE, CREATE STREAM"),
        ("CREATE THING i", "1:1: unknown statement 'CREATE THING'"),
        ("LATENESS v INTERVAL 1 HOUR", "1:12: expected ., found 'INTERVAL'"),
        ("INSERT INTO t VALUES (1)", "1:15: INSERT INTO ... VALUES is for replay files"),
        (
            "INSERT OVERWRITE o SELECT 1",
            "1:1: not supported: INSERT OVERWRITE replaces what a table holds once",
        ),
        ("INSERT INTO o REPLACE USING (a) SELECT 1", "1:15: not supported: REPLACE of an INSERT"),
        ("INSERT INTO o PARTITION (a = 1) SELECT 1", "1:15: not supported: PARTITION of an INSERT"),
        ("INSERT INTO o (a, A) SELECT 1, 2", "1:19: column 'A' is listed twice"),
        ("INSERT INTO o SELECT 1 TRIGGER COUNTING 1", "1:24: TRIGGER belongs to a view: CREATE VIEW v AS"),
    ],
)
def test_what_is_no_statement_is_refused_by_name_and_place(text: str, error: str) -> None:
    check_refused(text, error)


@pytest.mark.parametrize("query", ["SELECT stream FROM t", "SELECT stream, a FROM t", "SELECT emit FROM t"])
def test_words_of_extensions_are_names_elsewhere(query: str) -> None:
    view = only(f"CREATE VIEW v AS {query}")
    assert isinstance(view, CreateView)
    assert view.query.text == query
