"""UPDATE and DELETE as they are written.

    UPDATE t [[AS] name] SET [name.]column = expression, ... [FROM relation] [WHERE condition]
    DELETE FROM t [[AS] name] [USING relation] [WHERE condition]

FROM and USING, which are PostgreSQL's, are a MERGE of what is matched. A condition that is nothing but
columns that equal values is read here; the rest is for the compiler.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.dml.reading.clauses import (
    assigned_column,
    expect_end,
    row_name,
    source_of,
    stop_at,
    table_named,
    value_at,
    value_text,
)
from dbsp.dml.statement import Delete, Merge, Update, When, Where
from dbsp.rows.sql_literals import typed
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.text.tokens import Cursor


def read_delete(cursor: Cursor, program: Program) -> Delete | Merge:
    """After DELETE FROM. Raises ProgramError."""
    table = table_named(cursor, program)
    name = row_name(cursor)
    if cursor.accept("USING"):
        return _matched(cursor, table, name, None)
    return Delete(table, _where(cursor, table, name))


def read_update(cursor: Cursor, program: Program) -> Update | Merge:
    """After UPDATE. Raises ProgramError."""
    table = table_named(cursor, program)
    name = row_name(cursor)
    cursor.expect("SET")
    types = {field.name: field.type for field in table.schema}
    texts: dict[str, str] = {}
    values: dict[str, Any] | None = {}
    while True:
        column = assigned_column(cursor, table, name or table.name.rpartition(".")[2], texts)
        token, start = cursor.next, cursor.at
        stop = stop_at(cursor, (",",), ("WHERE",), ("FROM",))
        cursor.at = start
        found, value = value_at(cursor)
        if not found or cursor.at != stop:
            values = None
        elif values is not None:
            values[column] = typed(cursor, token, value, column, types[column])
        cursor.at = start
        texts[column] = value_text(cursor.until(stop).text)
        if not texts[column].strip():
            cursor.fail(f"{column} = what?")
        if not cursor.accept(","):
            break
    if cursor.accept("FROM"):
        return _matched(cursor, table, name, texts)
    return Update(table, _where(cursor, table, name), texts, values)


def _matched(cursor: Cursor, table: Table, name: str, texts: dict[str, str] | None) -> Merge:
    """After FROM or USING: what becomes of rows that a row of another relation matches."""
    source, _ = source_of(cursor)
    where = _where(cursor, table, name)
    clause = When("matched", "", texts)
    return Merge(table, name or table.name.rpartition(".")[2], source, where.condition or "TRUE", (clause,))


def _where(cursor: Cursor, table: Table, name: str) -> Where:
    if cursor.next.kind == "end":
        return Where(name)
    if not cursor.accept("WHERE"):
        expect_end(cursor)
    if cursor.next.kind == "end":
        cursor.fail("WHERE what? without WHERE it is all rows")
    start = cursor.at
    equal = _equal(cursor, table, name or table.name)
    cursor.at = start
    for token in cursor.tokens[start:]:
        if token.upper == "RETURNING":
            cursor.fail("RETURNING isn't known here; ask for rows by SELECT", token)
    return Where(name, cursor.until().text, equal)


def _equal(cursor: Cursor, table: Table, name: str) -> dict[str, Any] | None:
    """The condition as columns that equal values; None: it is more than that."""
    types = {field.name.lower(): field for field in table.schema}
    found: dict[str, Any] = {}
    while True:
        word = cursor.take()
        if cursor.accept("."):
            if word.text.strip("`").lower() != name.lower():
                return None
            word = cursor.take()
        field = types.get(word.text.strip("`").lower())
        if field is None or field.name in found or not cursor.accept("="):
            return None
        is_value, value = value_at(cursor)
        if not is_value or not _is_of(value, field.type):
            return None
        found[field.name] = value
        if cursor.next.kind == "end":
            return found
        if not cursor.accept("AND"):
            return None


def _is_of(value: Any, type_: pa.DataType) -> bool:
    """Whether comparing them needs no cast that SQL would choose."""
    if isinstance(value, bool):
        return bool(pt.is_boolean(type_))
    if isinstance(value, int):
        return bool(pt.is_integer(type_) and abs(value) < 2 ** (type_.bit_width - 1))
    if isinstance(value, Decimal):
        return bool(pt.is_decimal(type_)) and -value.as_tuple().exponent <= type_.scale  # type: ignore[operator]
    if isinstance(value, datetime):
        return False
    if isinstance(value, date):
        return bool(pt.is_date(type_))
    return isinstance(value, str) and bool(pt.is_string(type_))
