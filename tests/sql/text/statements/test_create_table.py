"""CREATE TABLE and CREATE STREAM: what is read of them, and what is refused by name and place."""

from __future__ import annotations

import pytest

from dbsp.sql.text.statements.create_table import CreateTable
from tests.sql.text.reading import check_refused, only


def table(text: str) -> CreateTable:
    found = only(text)
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


def test_how_a_source_is_read_is_no_flag() -> None:
    found = table(
        "CREATE TABLE t (a INT) USING kafka OPTIONS (topic 'x') "
        "WITH (changelog = 'Debezium', snapshot = 'every step', unchecked = true)"
    )
    assert (found.changelog, found.is_snapshot, found.properties) == ("debezium", True, {"unchecked": True})


def test_a_source_may_be_read_every_so_often() -> None:
    found = table(
        "CREATE TABLE t (a INT) USING csv WITH (snapshot = INTERVAL '1 30' DAY TO HOUR, mode = 'keep')"
    )
    assert found.snapshot_every is not None
    assert (found.snapshot_every.text, found.is_snapshot, found.mode) == (
        "INTERVAL '1 30' DAY TO HOUR",
        True,
        "keep",
    )


def test_a_stream_only_grows() -> None:
    found = table("CREATE STREAM s (a INT) WITH (materialized = true)")
    assert found.is_stream
    assert found.properties == {"append_only": True, "materialized": True}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CREATE TABLE t", "1:15: table 't' needs its columns: CREATE TABLE t (name TYPE, ...)"),
        ("CREATE TABLE t (a INT, PRIMARY KEY (a)", "1:39: expected ), found the end"),
        (
            "CREATE TABLE t (a INT PRIMARY KEY, PRIMARY KEY (a))",
            "1:36: table 't' has two primary keys; write PRIMARY KEY (a, b) for several columns",
        ),
        ("CREATE TABLE t (a INT) OPTIONS (path 'x')", "1:42: OPTIONS needs USING format"),
        ("CREATE TABLE t (a INT) USING csv OPTIONS (path ,)", "1:48: expected a value, found ','"),
        (
            "CREATE TABLE t (a INT) WITH (append = true)",
            "1:30: unknown property 'append'; properties: append_only, unchecked, changelog, snapshot",
        ),
        (
            "CREATE TABLE t (a INT) WITH (unchecked = 1)",
            "1:30: property 'unchecked' is true or false, not '1'",
        ),
        (
            "CREATE TABLE t (a INT) WITH (snapshot = always)",
            "1:30: property 'snapshot' is every step or an INTERVAL, n",
        ),
        (
            "CREATE STREAM s (a INT, PRIMARY KEY (a))",
            "1:15: stream 's' can't have a PRIMARY KEY: its rows are never replaced; use CREATE TABLE",
        ),
        ("CREATE STREAM s (a INT) WITH (append_only = true)", "1:31: unknown property 'append_only'; prop"),
    ],
)
def test_refused(text: str, error: str) -> None:
    check_refused(text, error)
