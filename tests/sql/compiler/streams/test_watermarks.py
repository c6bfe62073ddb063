"""What a query says of a table's times is that table's, for all."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.streams.watermarks import with_watermarks
from dbsp.sql.text.annotations import LatenessStatement
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.statements.create_table import CreateTable
from dbsp.sql.text.statements.statements import Statement, statements

TABLES = "CREATE TABLE e (ts TIMESTAMP, x INT); CREATE VIEW big AS SELECT * FROM e WHERE x > 1; "


def of(relation: str, diff: str = "INTERVAL 5 SECONDS", column: str = "ts") -> str:
    call = (
        f"max_diff_watermark(source=>TABLE({relation}), max_diff=>{diff}, time_field=>DESCRIPTOR({column}))"
    )
    return f"CREATE VIEW v AS SELECT * FROM {call}; "


def made(text: str) -> list[Statement]:
    source = as_it_is(TABLES + text, "p.sql")
    return with_watermarks(source, statements(source))


def test_a_tables_column_has_it_once() -> None:
    table, *_ = made(of("e") + of("E", "INTERVAL  5 SECONDS", "TS"))
    assert isinstance(table, CreateTable)
    lateness = table.columns[0].lateness
    assert lateness is not None and lateness.amount.text == "INTERVAL 5 SECONDS"
    assert table.columns[1].lateness is None


def test_a_views_column_has_it_before_anybody_reads_it() -> None:
    _, view, said, *_ = found = made(of("big") + of("Big", column="TS"))
    assert isinstance(said, LatenessStatement)
    assert (said.relation, said.column) == ("big", "ts")
    assert sum(isinstance(one, LatenessStatement) for one in found) == 1
    assert view is not said


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (of("e") + of("e", "INTERVAL 6 SECONDS"), "column 'ts' of 'e' has another LATENESS already"),
        (of("e", column="tss"), "unknown column 'tss' in 'e'; columns: ts, x"),
        (
            of("bigg"),
            "a watermark is of a table or view, and 'bigg' is none; did you mean 'big'?; of a query",
        ),
    ],
)
def test_what_can_not_be_said_is_refused(text: str, error: str) -> None:
    with pytest.raises(ProgramError, match=r"^p\.sql:1:") as raised:
        made(text)
    assert error in str(raised.value)
