"""What other dialects have and this one does not is refused by its name, and only there."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.text.extensions import refuse_in_query, refuse_statement
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.statements.session_statements import Ignored
from dbsp.sql.text.statements.statements import Statement, statements
from tests.sql.text.reading import cursor_over


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT 1 EMIT CHANGES", "1:10: not supported: EMIT CHANGES; write TRIGGER ... or EMIT (...)"),
        ("SELECT 1\nEMIT STREAM", "2:1: not supported: EMIT STREAM"),
        ("SELECT TIMESTAMP 'now'", "1:8: TIMESTAMP 'now' would stay what it is when the program is compiled"),
        ("SELECT * FROM (SELECT date ' Tomorrow UTC')", "1:23: date ' Tomorrow UTC' would stay"),
    ],
)
def test_refused_in_a_query(query: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        refuse_in_query(cursor_over(query))
    assert str(raised.value).startswith(f"p.sql:{error}")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 'now', now(), TIMESTAMP '2024-01-01', DATE 'nowhere'",
        "SELECT `emit` changes FROM emit",
        "SELECT a FROM (SELECT a FROM t emit changes) q",
        "SELECT 'EMIT CHANGES', \"TIMESTAMP 'now'\" -- EMIT CHANGES",
    ],
)
def test_the_same_words_elsewhere_are_the_users(query: str) -> None:
    cursor = cursor_over(query)
    refuse_in_query(cursor)
    assert cursor.at == 0


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


def watermarked(text: str) -> list[Statement]:
    return statements(as_it_is(text, "p.sql"))


@pytest.mark.parametrize(
    ("query", "amount"),
    [
        ("SELECT * FROM t WATERMARK ts DELAY OF INTERVAL 1 MINUTE", "INTERVAL 1 MINUTE"),
        (
            "SELECT * FROM (SELECT * FROM t WATERMARK ts DELAY OF INTERVAL '1 minute') u",
            "INTERVAL '1 minute'",
        ),
        ("SELECT * FROM t WATERMARK ts DELAY OF INTERVAL '1' MINUTE WHERE x > 1", "INTERVAL '1' MINUTE"),
        ("SELECT * FROM t WATERMARK ts DELAY OF INTERVAL '1 minute' AS u WHERE x", "INTERVAL '1 minute'"),
        ("SELECT * FROM t WATERMARK ts DELAY OF INTERVAL 1 HOUR 30 MINUTES u", "INTERVAL 1 HOUR 30 MINUTES"),
        (
            "SELECT * FROM t WATERMARK ts DELAY OF INTERVAL '1:00' HOUR TO MINUTE AS u",
            "INTERVAL '1:00' HOUR TO MINUTE",
        ),
    ],
)
def test_a_querys_is_ignored_with_what_to_declare(query: str, amount: str) -> None:
    _, ignored = watermarked(f"CREATE VIEW v AS {query}")
    assert isinstance(ignored, Ignored)
    assert (ignored.what, ignored.start) == ("WATERMARK ts DELAY OF", 17 + query.index("WATERMARK"))
    assert ignored.why.endswith(f"declare the table's column LATENESS {amount}")


def test_a_name_is_no_watermark() -> None:
    assert len(watermarked("CREATE VIEW v AS SELECT watermark.x FROM watermark")) == 1
