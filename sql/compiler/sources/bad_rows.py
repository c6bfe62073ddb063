"""`bad_rows`, the system view of every program with a source whose bad rows are kept.

    bad_rows(relation STRING, step BIGINT, origin STRING, text STRING, reason STRING)

origin: the file, or the path or format of what has none. text: the record as it stands, else its row as JSON.
It is append-only, and readable like any other view. A source keeps them unless it says mode = 'fail', or its
OPTIONS say what is made of them; of a snapshot, which reads all rows again and again, each is told once. Of a
program that says nothing of it this view is no part of what it is, so that it goes on with states from before
that.
"""

from __future__ import annotations

from collections.abc import Set

from dbsp.circuits.operators.inputs.bad import BAD_ROWS, BAD_SCHEMA
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import View
from dbsp.sql.plans.schemas import Field
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.create_table import CreateTable

# as Spark names its types
BAD_TYPES = tuple((field.name, "long" if field.name == "step" else "string") for field in BAD_SCHEMA)


def bad_rows_view() -> View:
    fields = tuple(Field(field.name, field.type, nullable=False) for field in BAD_SCHEMA)
    return View(BAD_ROWS, fields, "view", Scan(BAD_ROWS, fields), True, "what sources declare")


def keeps_bad_rows(statement: object, written: Set[str]) -> bool:
    """Whether it declares a source whose bad rows are kept. written: the names of targets, in lower case."""
    if (
        not isinstance(statement, CreateTable)
        or statement.format is None
        or statement.name.lower() in written
    ):
        return False
    if statement.mode is not None:
        return statement.mode == "keep"
    # to Spark a line of CSV without its last columns is broken, be it that these are filled in
    may_be_short = statement.format.lower() == "csv" and any(c.is_filled for c in statement.columns)
    return _against(statement) is None and not _modes(statement) and not may_be_short


def check_mode(source: Source, statement: CreateTable, is_read: bool) -> None:
    """Raises ProgramError where bad rows can't be kept as the statement says. is_read: it is no target."""
    if statement.mode is None and statement.max_bad_rows is None:
        return
    problem = None
    if statement.format is None or not is_read:
        what = "is written" if statement.format is not None else "has no USING"
        problem = f"is of a source, and this table {what}; leave it out"
    elif statement.mode == "fail":
        if statement.max_bad_rows is None:
            return
        problem = "is of bad rows that are kept; leave out mode = 'fail'"
    else:
        problem = _against(statement)
    if problem is not None:
        word = "mode" if statement.mode is not None else "max_bad_rows"
        raise source.error(statement.start, f"{word} of '{statement.name}' {problem}")


def _against(statement: CreateTable) -> str | None:
    """Why a source can't keep bad rows; None: it can."""
    if _modes(statement) - {"permissive"}:
        return "finds bad rows itself; leave the option mode out of OPTIONS"
    if _option(statement, "columnnameofcorruptrecord") is not None:
        return "finds bad rows itself; leave columnNameOfCorruptRecord out of OPTIONS"
    return None


def _modes(statement: CreateTable) -> set[str]:
    found = (_option(statement, word) for word in ("mode", "value.mode", "key.mode"))
    return {mode for mode in found if mode is not None}


def _option(statement: CreateTable, wanted: str) -> str | None:
    return next((v.lower() for name, v in statement.options.items() if name.lower() == wanted), None)
