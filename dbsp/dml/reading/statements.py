"""Statements that change rows of a table, as they are written.

    INSERT INTO t [(columns)] VALUES (...), ... | SELECT ...
      [ON CONFLICT (key) DO NOTHING | DO UPDATE SET column = EXCLUDED.column, ...]
    UPDATE t [[AS] name] SET [name.]column = expression, ... [FROM relation] [WHERE condition]
    DELETE FROM t [[AS] name] [USING relation] [WHERE condition]     TRUNCATE [TABLE] t
    UPSERT INTO t [(columns)] VALUES (...), ... | SELECT ...         MERGE INTO t ... (`merges.py`)

Any of them may begin with WITH.
"""

from __future__ import annotations

from dataclasses import replace

from dbsp.dml.reading.changes import read_delete, read_update
from dbsp.dml.reading.clauses import expect_end, table_named
from dbsp.dml.reading.inserts import read_insert, read_upsert
from dbsp.dml.reading.merges import read_merge
from dbsp.dml.statement import Delete, Statement, Where
from dbsp.sql.plans.program import Program
from dbsp.sql.text.source import Source, as_it_is
from dbsp.sql.text.tokens import Cursor, begins_at, tokens

VERBS = ("INSERT", "UPSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE")


def is_statement(text: str) -> bool:
    """Whether it begins as one of these."""
    first = next((word for word in text.split(None, 1)), "").upper()
    if first != "WITH":
        return first in VERBS
    cursor = _cursor(text)
    return cursor.tokens[begins_at(cursor.tokens)].upper in VERBS


def _cursor(text: str | Source) -> Cursor:
    source = text if isinstance(text, Source) else as_it_is(text.strip().rstrip(";"), "statement")
    return Cursor(source, tokens(source))


def read_statement(text: str | Source, program: Program) -> Statement:
    """Raises ProgramError, at line and column; of a Source those of its file."""
    cursor = _cursor(text)
    if cursor.sees("WITH"):
        ctes = cursor.until(begins_at(cursor.tokens)).text
        return replace(_statement(cursor, program), ctes=ctes)
    return _statement(cursor, program)


def _statement(cursor: Cursor, program: Program) -> Statement:
    if cursor.accept("INSERT", "INTO"):
        return read_insert(cursor, program)
    if cursor.accept("UPSERT", "INTO"):
        return read_upsert(cursor, program)
    if cursor.accept("MERGE", "INTO"):
        return read_merge(cursor, table_named(cursor, program))
    if cursor.accept("UPDATE"):
        return read_update(cursor, program)
    if cursor.accept("DELETE", "FROM"):
        return read_delete(cursor, program)
    if cursor.accept("TRUNCATE"):
        cursor.accept("TABLE")
        table = table_named(cursor, program)
        expect_end(cursor)
        return Delete(table, Where(""))
    return cursor.fail(
        f"unknown statement {cursor.next}; there are INSERT INTO, UPSERT INTO, UPDATE, DELETE FROM, "
        "MERGE INTO and TRUNCATE"
    )
