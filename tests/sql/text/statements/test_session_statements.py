"""USE says where names belong; SET keeps its key and value; the rest is ignored with a reason."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.text.source import read
from dbsp.sql.text.statements.create_table import CreateTable
from dbsp.sql.text.statements.session_statements import Ignored, Setting, Use
from dbsp.sql.text.statements.statements import Statement, statements
from dbsp.sql.text.tokens import InUse


def parse(text: str) -> list[Statement]:
    return statements(read(text, "p.sql"))


@pytest.mark.parametrize(
    ("before", "written", "name"),
    [
        ("", "t", "t"),
        ("", "s.t", "s.t"),
        ("", "c.s.t", "c.s.t"),
        ("", "live.t", "t"),
        ("USE s;", "t", "s.t"),
        ("USE SCHEMA `s 1`;", "t", "s 1.t"),
        ("USE DATABASE s;", "u.t", "u.t"),
        ("USE c.s;", "t", "c.s.t"),
        ("USE c.s;", "u.t", "c.u.t"),
        ("USE c.s;", "d.u.t", "d.u.t"),
        ("USE CATALOG c; USE s;", "t", "c.s.t"),
        ("USE CATALOG c; USE s; USE CATALOG d;", "t", "d.t"),
        ("USE s;", "LIVE.t", "s.t"),
    ],
)
def test_a_name_belongs_to_the_schema_in_use(before: str, written: str, name: str) -> None:
    *_, table = parse(f"{before} CREATE TABLE {written} (a INT)")
    assert isinstance(table, CreateTable)
    assert table.name == name


def test_statements_of_the_session() -> None:
    found = parse(
        "USE s; SET a.b.c = 'x y'; SET a.b; SET TIME ZONE 'UTC'; SET a = 1;"
        "DROP TABLE IF EXISTS s.t; CREATE SCHEMA IF NOT EXISTS s; COMMENT ON TABLE t IS 'x';"
    )
    used, *settings = found[:5]
    assert used == Use(InUse("", "s"), 0)
    assert [(s.key, s.value) for s in settings if isinstance(s, Setting)] == [
        ("a.b.c", "x y"),
        ("a.b", None),
        ("spark.sql.session.timeZone", "UTC"),
        ("a", "1"),
    ]
    assert [one.what for one in found[5:] if isinstance(one, Ignored)] == [
        "DROP TABLE IF EXISTS s.t",
        "CREATE SCHEMA IF NOT EXISTS s",
        "COMMENT ON TABLE t IS 'x'",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE s.t SET TBLPROPERTIES ('a' = 'b')",
        "ALTER TABLE t UNSET TBLPROPERTIES ('a')",
        "ALTER SCHEMA s SET DBPROPERTIES ('a' = 'b')",
        "SHOW TABLES",
        "DESCRIBE t",
        "EXPLAIN SELECT 1",
        "ADD JAR 'a.jar'",
        "RESET a.b",
        "SET ROLE r",
        "CREATE INDEX i ON t (a)",
        "MSCK REPAIR TABLE t",
    ],
)
def test_what_changes_no_row_is_ignored(statement: str) -> None:
    (found,) = parse(statement)
    assert isinstance(found, Ignored)
    assert found.what == statement


@pytest.mark.parametrize(
    "words", ["SET LOCATION 'x'", "DROP PARTITION (a = 1)", "ADD CONSTRAINT c CHECK (a > 0)"]
)
def test_what_changes_rows_is_not(words: str) -> None:
    with pytest.raises(ProgramError, match=r"1:1: not supported: ALTER TABLE; change its CREATE TABLE"):
        parse(f"ALTER TABLE t {words}")


def test_a_catalog_in_use() -> None:
    assert parse("SET CATALOG c") == [Use(InUse("c"), 0)]


@pytest.mark.parametrize("dropped", ["t", "s.t", "s.T"])
def test_what_is_defined_is_not_dropped(dropped: str) -> None:
    text = f"USE s; CREATE TABLE t (a INT); DROP TABLE IF EXISTS {dropped}"
    with pytest.raises(ProgramError, match=r"DROP of 's\.\w', which the program defines"):
        parse(text)
    assert isinstance(parse(text + "2")[-1], Ignored)
