"""INSERT and UPSERT as they are written.

    INSERT INTO t [BY NAME | (columns)] VALUES (...), ... | SELECT ...
      [ON CONFLICT (key) DO NOTHING | DO UPDATE SET column = EXCLUDED.column, ...]
    UPSERT INTO t [(columns)] VALUES (...), ... | SELECT ...

VALUES that are nothing but values are read here; the rest is for the compiler. ON CONFLICT is PostgreSQL's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dbsp.dml.reading.clauses import (
    DEFAULT,
    column_named,
    columns_listed,
    expect_end,
    stop_at,
    table_named,
    value_at,
)
from dbsp.dml.statement import Conflict, Insert
from dbsp.rows.sql_literals import typed
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.text.tokens import Cursor, Token

_CLOCK = frozenset({"NOW", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "CURRENT_DATE", "CURDATE"})
_BEGIN_A_QUERY = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})


def read_insert(cursor: Cursor, program: Program) -> Insert:
    """After INSERT INTO. Raises ProgramError."""
    cursor.accept("TABLE")
    table = table_named(cursor, program)
    by_name = cursor.accept("BY", "NAME")
    if by_name and cursor.sees("VALUES"):
        cursor.fail("VALUES have no names; list the columns: INSERT INTO t (a, b) VALUES (...)")
    is_listed = not by_name and cursor.sees("(") and cursor.ahead(1).upper not in _BEGIN_A_QUERY
    columns = columns_listed(cursor, table) if is_listed else tuple(field.name for field in table.schema)
    start = cursor.at
    rows = _listed(cursor, table, columns)
    if rows is not None:
        return Insert(table, columns, rows, conflict=_conflict(cursor, table))
    cursor.at = start
    stop = stop_at(cursor, ("ON", "CONFLICT"))
    query = _selects(cursor, stop) or _undefaulted(cursor, cursor.at, stop)
    cursor.at = stop
    if not query.strip():
        cursor.fail("expected VALUES (...) or a query")
    return Insert(table, columns, None, query, _conflict(cursor, table), by_name=by_name)


def read_upsert(cursor: Cursor, program: Program) -> Insert:
    """After UPSERT INTO: rows that replace those with their keys. Raises ProgramError."""
    at = cursor.next
    insert = read_insert(cursor, program)
    if not insert.table.primary_key:
        cursor.fail(f"table '{insert.table.name}' has no PRIMARY KEY to upsert by; use INSERT INTO", at)
    if insert.conflict is not None:
        cursor.fail("UPSERT replaces the rows with these keys; ON CONFLICT is of INSERT", at)
    key = set(insert.table.primary_key)
    others = tuple(column.name for column in insert.table.schema if column.name not in key)
    return replace(insert, conflict=Conflict(others))


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
        if token.upper == DEFAULT and before.text in ("(", ",") and after.text in (")", ","):
            parts += [text[at : token.start], "NULL"]
            at = token.stop
    return "".join([*parts, text[at : cursor.tokens[stop - 1].stop if stop > start else at]])


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
            found, value = value_at(cursor)
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


def _conflict(cursor: Cursor, table: Table) -> Conflict | None:
    found = None
    if cursor.accept("ON", "CONFLICT"):
        if not table.primary_key:
            cursor.fail(f"table '{table.name}' has no PRIMARY KEY, so no row is in conflict")
        start = cursor.next
        if cursor.sees("(") and {*columns_listed(cursor, table)} != {*table.primary_key}:
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
    expect_end(cursor)
    return found
