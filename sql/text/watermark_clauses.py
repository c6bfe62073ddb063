"""Watermarks as other dialects declare them: of a table, and of what a query reads.

CREATE TABLE t (..., WATERMARK FOR ts AS ts - i)        Flink's: ts ... LATENESS i
FROM t WATERMARK ts DELAY OF i                          Spark's, which says nothing of a view
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbsp.circuits.errors import did_you_mean
from dbsp.sql.text.annotations import LatenessClause, lateness_clause
from dbsp.sql.text.column_definitions import ColumnDefinition
from dbsp.sql.text.tokens import Cursor, Slice, Token

_FORM = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND is ts TIMESTAMP LATENESS INTERVAL '5' SECOND"


def watermark_for(cursor: Cursor, columns: Sequence[ColumnDefinition]) -> list[ColumnDefinition]:
    """At WATERMARK FOR: the columns so far, of which one has the LATENESS that it says."""
    first = cursor.next
    cursor.at += 2
    name = cursor.name("a column's name")
    known = {column.name.lower(): at for at, column in enumerate(columns)}
    at = known.get(name.text.lower())
    if at is None:
        names = [column.name for column in columns]
        hint = did_you_mean(name.text, names)
        cursor.fail(f"WATERMARK FOR '{name.text}': columns so far: {', '.join(names)}{hint}", name)
    if columns[at].lateness is not None:
        cursor.fail(f"column '{columns[at].name}' has a LATENESS already", first)
    cursor.expect("AS")
    value = cursor.name("the column's name")
    if value.text.lower() != name.text.lower() or not (
        cursor.sees("-") or cursor.sees(",") or cursor.sees(")")
    ):
        cursor.fail(f"WATERMARK FOR '{name.text}' is its column less a constant: {_FORM}", value)
    lateness = LatenessClause(Slice("INTERVAL 0 SECONDS", value.start), None)
    if cursor.accept("-"):
        lateness = lateness_clause(cursor)
    return [replace(column, lateness=lateness) if i == at else column for i, column in enumerate(columns)]


def ignore_delays(cursor: Cursor) -> None:
    """WATERMARK ts DELAY OF i, from the cursor to the end of the statement, which it leaves where it is."""
    rest = cursor.tokens[cursor.at :]
    for at, token in enumerate(rest):
        if token.upper != "WATERMARK" or token.kind != "word":
            continue
        delay = next((i for i in range(at + 1, len(rest) - 1) if _is_delay(rest, i)), None)
        if delay is None:
            continue
        said = cursor.source.text[rest[at + 1].start : rest[delay - 1].stop]
        amount = cursor.source.text[rest[delay + 2].start : _end(rest, delay + 2).stop]
        cursor.ignore(
            f"WATERMARK {said} DELAY OF",
            "a view is of all rows, as Spark's is; to let go of what is too late, declare the table's column "
            f"LATENESS {amount}",
            token,
        )


def _is_delay(rest: Sequence[Token], at: int) -> bool:
    return rest[at].upper == "DELAY" and rest[at + 1].upper == "OF"


def _end(rest: Sequence[Token], at: int) -> Token:
    """The last token of INTERVAL 'n' UNIT, which begins there."""
    stop = at + 1 + (rest[at].upper == "INTERVAL")
    return (
        rest[stop]
        if rest[min(stop, len(rest) - 1)].kind == "word" and rest[stop].text != ")"
        else rest[stop - 1]
    )
