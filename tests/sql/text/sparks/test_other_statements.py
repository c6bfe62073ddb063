"""Statements that only Spark has are refused by name, with what to write instead, and no others."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.text.sparks.other_statements import refuse_statement
from tests.sql.text.reading import cursor_over


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("DECLARE RECURSIVE VIEW v (a INT)", "DECLARE RECURSIVE VIEW; write CREATE RECURSIVE VIEW name"),
        ("DECLARE x INT", "a variable; write the value, or ${NAME} and --define NAME=value"),
        ("set var x = 1", "a variable; write the value"),
        ("select 1", "a query by itself is shown to nobody; write CREATE VIEW name AS SELECT ..."),
        ("WITH q AS (SELECT 1) INSERT INTO t SELECT 2", "WITH before INSERT; write INSERT INTO target WITH"),
        (
            "DELETE FROM t",
            "DELETE changes rows, and a program says what its tables and views are; rows change by",
        ),
        ("MERGE INTO t USING u ON a = b", "MERGE changes rows"),
        ("ALTER TABLE t ADD COLUMN a INT", "ALTER TABLE; change its CREATE TABLE: `dbsp plan` says"),
        ("BEGIN SELECT 1", "BEGIN; a script runs once"),
    ],
)
def test_what_to_write_instead(statement: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        refuse_statement(cursor_over(f"  {statement}"))
    assert str(raised.value).startswith(f"p.sql:1:3: not supported: {error}")


@pytest.mark.parametrize(
    "statement", ["CREATE VIEW v AS SELECT 1", "INSERT INTO t SELECT 1", "SET a = 1", "`select` 1"]
)
def test_others_pass(statement: str) -> None:
    cursor = cursor_over(statement)
    refuse_statement(cursor)
    assert cursor.at == 0
