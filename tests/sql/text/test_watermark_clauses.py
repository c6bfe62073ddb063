"""Watermarks of other dialects are LATENESS, or are ignored with what to write instead."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.statements.create_table import CreateTable
from dbsp.sql.text.statements.session_statements import Ignored
from dbsp.sql.text.statements.statements import Statement, statements


def made(text: str) -> list[Statement]:
    return statements(as_it_is(text, "p.sql"))


@pytest.mark.parametrize(
    ("clause", "amount"),
    [
        ("WATERMARK FOR ts AS ts - INTERVAL '5' SECOND", "INTERVAL '5' SECOND"),
        ("watermark for `ts` as TS - INTERVAL 1 HOUR, PRIMARY KEY (x)", "INTERVAL 1 HOUR"),
        ("WATERMARK FOR ts AS ts", "INTERVAL 0 SECONDS"),
    ],
)
def test_a_tables_is_the_lateness_of_its_column(clause: str, amount: str) -> None:
    (table,) = made(f"CREATE TABLE t (x INT, ts TIMESTAMP NOT NULL, {clause})")
    assert isinstance(table, CreateTable)
    x, ts = table.columns
    assert x.lateness is None and ts.not_null
    assert ts.lateness is not None and ts.lateness.amount.text == amount
    assert table.primary_key == (("x",) if "KEY" in clause else ())


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        (
            "ts TIMESTAMP, WATERMARK FOR tz AS tz",
            "1:45: WATERMARK FOR 'tz': columns so far: ts",
        ),
        ("ts TIMESTAMP, WATERMARK FOR ts AS now()", "1:51: WATERMARK FOR 'ts' is its column less a constant"),
        (
            "ts TIMESTAMP, WATERMARK FOR ts AS ts + x",
            "1:51: WATERMARK FOR 'ts' is its column less a constant",
        ),
        (
            "ts TIMESTAMP LATENESS INTERVAL 1 DAY, WATERMARK FOR ts AS ts",
            "column 'ts' has a LATENESS already",
        ),
        ("ts AS PROCTIME()", "1:20: column 'ts' is when a row came: declare ts TIMESTAMP DEFAULT now()"),
        ("ts AS x + 1", "1:20: column 'ts' is computed: declare its type, ts TYPE GENERATED ALWAYS AS (exp"),
    ],
)
def test_what_says_no_lateness(clause: str, message: str) -> None:
    with pytest.raises(ProgramError) as error:
        made(f"CREATE TABLE t ({clause})")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("query", "amount"),
    [
        ("SELECT * FROM t WATERMARK ts DELAY OF INTERVAL 1 MINUTE", "INTERVAL 1 MINUTE"),
        (
            "SELECT * FROM (SELECT * FROM t WATERMARK ts DELAY OF INTERVAL '1 minute') u",
            "INTERVAL '1 minute'",
        ),
        ("SELECT * FROM t WATERMARK ts DELAY OF INTERVAL '1' MINUTE WHERE x > 1", "INTERVAL '1' MINUTE"),
    ],
)
def test_a_querys_is_ignored_with_what_to_declare(query: str, amount: str) -> None:
    _, ignored = made(f"CREATE VIEW v AS {query}")
    assert isinstance(ignored, Ignored)
    assert (ignored.what, ignored.start) == ("WATERMARK ts DELAY OF", 17 + query.index("WATERMARK"))
    assert ignored.why.endswith(f"declare the table's column LATENESS {amount}")


def test_a_name_is_no_watermark() -> None:
    assert len(made("CREATE VIEW v AS SELECT watermark.x FROM watermark")) == 1
