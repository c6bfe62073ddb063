"""`bad_rows`, the system view of every program with a source WITH (mode = 'keep').

    bad_rows(relation STRING, step BIGINT, origin STRING, text STRING, reason STRING)

origin: the file, or the path or format of what has none. text: the record as it stands, else its row as JSON.
It is append-only, and readable like any other view.
"""

from __future__ import annotations

from dbsp.circuits.operators.inputs.bad import BAD_ROWS, BAD_SCHEMA
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import View
from dbsp.sql.plans.schemas import Field
from dbsp.sql.text.create_table import CreateTable
from dbsp.sql.text.source import Source

# as Spark names its types
BAD_TYPES = tuple((field.name, "long" if field.name == "step" else "string") for field in BAD_SCHEMA)


def bad_rows_view() -> View:
    fields = tuple(Field(field.name, field.type, nullable=False) for field in BAD_SCHEMA)
    return View(BAD_ROWS, fields, "view", Scan(BAD_ROWS, fields), True, "what mode = 'keep' declares")


def keeps_bad_rows(statement: object) -> bool:
    """Whether it declares a source whose bad rows are kept."""
    return isinstance(statement, CreateTable) and statement.mode == "keep"


def check_mode(source: Source, statement: CreateTable, is_read: bool) -> None:
    """Raises ProgramError where bad rows can't be kept as the statement says. is_read: it is no target."""
    if statement.mode is None and statement.max_bad_rows is None:
        return
    problem = None
    if statement.format is None or not is_read:
        what = "is written" if statement.format is not None else "has no USING"
        problem = f"is of a source, and this table {what}; leave it out"
    elif statement.mode != "keep":
        if statement.max_bad_rows is None:
            return
        problem = "is of bad rows that are kept; add mode = 'keep'"
    elif statement.is_snapshot:
        problem = "keeps a row once, and a snapshot reads all rows at every step; leave one out"
    elif {_option(statement, word) for word in ("mode", "value.mode", "key.mode")} - {None, "permissive"}:
        problem = "finds bad rows itself; leave the option mode out of OPTIONS"
    elif _option(statement, "columnnameofcorruptrecord") is not None:
        problem = "finds bad rows itself; leave columnNameOfCorruptRecord out of OPTIONS"
    if problem is not None:
        word = "mode" if statement.mode is not None else "max_bad_rows"
        raise source.error(statement.start, f"{word} of '{statement.name}' {problem}")


def _option(statement: CreateTable, wanted: str) -> str | None:
    return next((v.lower() for name, v in statement.options.items() if name.lower() == wanted), None)
