"""Statements that change rows of a table, as they are written.

    INSERT INTO t [(columns)] VALUES (...), ... | SELECT ...
      [ON CONFLICT (key) DO NOTHING | DO UPDATE SET column = EXCLUDED.column, ...]
    UPDATE t [[AS] name] SET [name.]column = expression, ... [FROM relation] [WHERE condition]
    DELETE FROM t [[AS] name] [USING relation] [WHERE condition]     TRUNCATE [TABLE] t
    UPSERT INTO t [(columns)] VALUES (...), ... | SELECT ...         MERGE INTO t ... (`merge_reading.py`)

Any of them may begin with WITH. FROM and USING, which are PostgreSQL's, are a MERGE of what is matched.
DEFAULT stands for a value, as NULL does: no column with a DEFAULT is ever NULL. What is nothing but a value,
and a condition that is nothing but columns that equal values, are read here; the rest is for the compiler. ON
CONFLICT is PostgreSQL's.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.errors import ProgramError
from dbsp.dml.merge_reading import assigned_column, column_named, read_merge, source_of
from dbsp.dml.statement import Conflict, Delete, Insert, Merge, Statement, Update, When, Where
from dbsp.rows.sql_literals import literal, typed
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Cursor, Token, begins_at, tokens

VERBS = ("INSERT", "UPSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE")
_QUERIES = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "("})
_UNREAD = frozenset({"RETURNING", "USING", "FROM", "OUTPUT", "LIMIT", "ORDER"})
_DEFAULT = "DEFAULT"
_CLOCK = frozenset({"NOW", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "CURRENT_DATE", "CURDATE"})
_CLAUSES = _UNREAD | {"SET", "WHERE"}


def is_statement(text: str) -> bool:
    """Whether it begins as one of these."""
    first = next((word for word in text.split(None, 1)), "").upper()
    if first != "WITH":
        return first in VERBS
    cursor = _cursor(text)
    return cursor.tokens[begins_at(cursor.tokens)].upper in VERBS


def _cursor(text: str) -> Cursor:
    source = as_it_is(text.strip().rstrip(";"), "statement")
    return Cursor(source, tokens(source))


def read_statement(text: str, program: Program) -> Statement:
    """Raises ProgramError, at line and column."""
    cursor = _cursor(text)
    if cursor.sees("WITH"):
        ctes = cursor.until(begins_at(cursor.tokens)).text
        return replace(_statement(cursor, program), ctes=ctes)
    return _statement(cursor, program)


def _statement(cursor: Cursor, program: Program) -> Statement:
    if cursor.accept("INSERT", "INTO"):
        return _insert(cursor, program)
    if cursor.accept("UPSERT", "INTO"):
        return _upsert(cursor, program)
    if cursor.accept("MERGE", "INTO"):
        return read_merge(cursor, table_named(cursor, program))
    if cursor.accept("UPDATE"):
        return _update(cursor, program)
    if cursor.accept("DELETE", "FROM"):
        table = table_named(cursor, program)
        name = _name(cursor)
        if cursor.accept("USING"):
            return _matched(cursor, table, name, None)
        return Delete(table, _where(cursor, table, name))
    if cursor.accept("TRUNCATE"):
        cursor.accept("TABLE")
        table = table_named(cursor, program)
        return Delete(table, _where(cursor, table, ""))
    return cursor.fail(
        f"unknown statement {cursor.next}; there are INSERT INTO, UPSERT INTO, UPDATE, DELETE FROM, "
        "MERGE INTO and TRUNCATE"
    )


def table_named(cursor: Cursor, program: Program) -> Table:
    token = cursor.relation("a table's name")
    try:
        return program.input(token.text)
    except ProgramError as error:
        cursor.fail(str(error), token)


def _name(cursor: Cursor) -> str:
    """By which the statement calls the row, if not as the table."""
    if cursor.accept("AS") or (cursor.next.kind in ("word", "quoted") and cursor.next.upper not in _CLAUSES):
        return cursor.name("a name").text
    return ""


def _columns(cursor: Cursor, table: Table) -> tuple[str, ...]:
    found: list[str] = []
    cursor.expect("(")
    while True:
        token = cursor.next
        found.append(column_named(cursor, table))
        if found[-1] in found[:-1]:
            cursor.fail(f"column '{found[-1]}' is listed twice", token)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return tuple(found)


# -- INSERT -------------------------------------------------------------------------------------------


_BEGIN_A_QUERY = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})


def _insert(cursor: Cursor, program: Program) -> Insert:
    cursor.accept("TABLE")
    table = table_named(cursor, program)
    by_name = cursor.accept("BY", "NAME")
    if by_name and cursor.sees("VALUES"):
        cursor.fail("VALUES have no names; list the columns: INSERT INTO t (a, b) VALUES (...)")
    is_listed = not by_name and cursor.sees("(") and cursor.ahead(1).upper not in _BEGIN_A_QUERY
    columns = _columns(cursor, table) if is_listed else tuple(field.name for field in table.schema)
    start = cursor.at
    rows = _listed(cursor, table, columns)
    if rows is not None:
        return Insert(table, columns, rows, conflict=_conflict(cursor, table))
    cursor.at = start
    stop = _stop(cursor, ("ON", "CONFLICT"))
    query = _selects(cursor, stop) or _undefaulted(cursor, cursor.at, stop)
    cursor.at = stop
    if not query.strip():
        cursor.fail("expected VALUES (...) or a query")
    return Insert(table, columns, None, query, _conflict(cursor, table), by_name=by_name)


def _selects(cursor: Cursor, stop: int) -> str | None:
    """VALUES that ask for the time, as SELECTs: Spark computes an inline table before there is one."""
    listed = cursor.tokens[cursor.at : stop]
    if listed[:1] and listed[0].upper == "VALUES" and any(token.upper in _CLOCK for token in listed):
        rows, depth, start = [], 0, 0
        for at, token in enumerate(listed[1:], cursor.at + 1):
            start = at + 1 if token.text == "(" and depth == 0 else start
            depth += (token.text == "(") - (token.text == ")")
            if token.text == ")" and depth == 0:
                rows.append(f"SELECT {_undefaulted(cursor, start, at)}")
        return " UNION ALL ".join(rows)
    return None


def _undefaulted(cursor: Cursor, start: int, stop: int) -> str:
    """The text of tokens, with NULL where a row of VALUES has DEFAULT: no column with one is ever NULL."""
    text, parts, at = cursor.source.text, [], cursor.tokens[start].start
    for i in range(start, stop):
        before, token, after = cursor.tokens[i - 1], cursor.tokens[i], cursor.tokens[i + 1]
        if token.upper == _DEFAULT and before.text in ("(", ",") and after.text in (")", ","):
            parts += [text[at : token.start], "NULL"]
            at = token.stop
    return "".join([*parts, text[at : cursor.tokens[stop - 1].stop if stop > start else at]])


def _upsert(cursor: Cursor, program: Program) -> Insert:
    """Rows that replace those with their keys."""
    at = cursor.next
    insert = _insert(cursor, program)
    if not insert.table.primary_key:
        cursor.fail(f"table '{insert.table.name}' has no PRIMARY KEY to upsert by; use INSERT INTO", at)
    if insert.conflict is not None:
        cursor.fail("UPSERT replaces the rows with these keys; ON CONFLICT is of INSERT", at)
    key = set(insert.table.primary_key)
    others = tuple(column.name for column in insert.table.schema if column.name not in key)
    return replace(insert, conflict=Conflict(others))


def _listed(cursor: Cursor, table: Table, columns: tuple[str, ...]) -> list[dict[str, Any]] | None:
    """VALUES that are nothing but values; None: something is computed."""
    if not cursor.accept("VALUES"):
        return None
    types = {field.name: field.type for field in table.schema}
    rows = []
    while True:
        start = cursor.expect("(")
        values: list[tuple[Token, Any]] = []
        while True:
            token = cursor.next
            found, value = _literal(cursor)
            if not found or not (cursor.sees(",") or cursor.sees(")")):
                return None
            values.append((token, value))
            if not cursor.accept(","):
                break
        cursor.expect(")")
        if len(values) != len(columns):
            cursor.fail(f"{len(values)} values for {len(columns)} columns ({', '.join(columns)})", start)
        pairs = zip(columns, values, strict=True)
        rows.append({name: typed(cursor, token, value, name, types[name]) for name, (token, value) in pairs})
        if not cursor.accept(","):
            return rows


def _literal(cursor: Cursor) -> tuple[bool, Any]:
    if cursor.accept(_DEFAULT):
        return True, None
    try:
        return True, literal(cursor)
    except ProgramError:
        return False, None


def _conflict(cursor: Cursor, table: Table) -> Conflict | None:
    found = None
    if cursor.accept("ON", "CONFLICT"):
        if not table.primary_key:
            cursor.fail(f"table '{table.name}' has no PRIMARY KEY, so no row is in conflict")
        start = cursor.next
        if cursor.sees("(") and {*_columns(cursor, table)} != {*table.primary_key}:
            cursor.fail(f"the key of '{table.name}' is ({', '.join(table.primary_key)})", start)
        found = Conflict()
        if cursor.accept("DO", "UPDATE", "SET"):
            columns = []
            while True:
                columns.append(column_named(cursor, table))
                cursor.expect("=")
                cursor.expect("EXCLUDED")
                cursor.expect(".")
                if column_named(cursor, table) != columns[-1]:
                    cursor.fail(f"expected {columns[-1]} = EXCLUDED.{columns[-1]}", cursor.ahead(-1))
                if not cursor.accept(","):
                    break
            found = Conflict(tuple(columns))
        elif not cursor.accept("DO", "NOTHING"):
            cursor.fail("expected DO NOTHING or DO UPDATE SET column = EXCLUDED.column, ...")
    _end(cursor)
    return found


# -- UPDATE and DELETE --------------------------------------------------------------------------------


def _update(cursor: Cursor, program: Program) -> Update | Merge:
    table = table_named(cursor, program)
    name = _name(cursor)
    cursor.expect("SET")
    types = {field.name: field.type for field in table.schema}
    texts: dict[str, str] = {}
    values: dict[str, Any] | None = {}
    while True:
        column = assigned_column(cursor, table, name or table.name.rpartition(".")[2], texts)
        token, start = cursor.next, cursor.at
        stop = _stop(cursor, (",",), ("WHERE",), ("FROM",))
        cursor.at = start
        found, value = _literal(cursor)
        if not found or cursor.at != stop:
            values = None
        elif values is not None:
            values[column] = typed(cursor, token, value, column, types[column])
        cursor.at = start
        text = cursor.until(stop).text
        texts[column] = "NULL" if text.upper() == _DEFAULT else text
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
        _end(cursor)
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
        is_value, value = _literal(cursor)
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


def _stop(cursor: Cursor, *ends: tuple[str, ...]) -> int:
    """The token at which one of these rows of words begins, outside parentheses; else the end."""
    depth, at = 0, cursor.at
    while cursor.tokens[at].kind != "end":
        token = cursor.tokens[at]
        depth += (token.text == "(") - (token.text == ")")
        found = [one.upper for one in cursor.tokens[at : at + 2]]
        if depth == 0 and any([*end] == found[: len(end)] for end in ends):
            break
        at += 1
    return at


def _end(cursor: Cursor) -> None:
    if cursor.next.kind != "end":
        if cursor.next.upper in _UNREAD:
            cursor.fail(f"{cursor.next.upper} isn't known here; ask for rows by SELECT, also within WHERE")
        cursor.fail(f"expected the end, found {cursor.next}")
