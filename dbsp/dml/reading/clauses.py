"""What statements that change rows have in common: names of tables, of their rows and columns, and values."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from dbsp.circuits.errors import ProgramError
from dbsp.rows.sql_literals import literal
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.text.tokens import Cursor, quoted

# stands for a value, as NULL does: no column with a DEFAULT is ever NULL
DEFAULT = "DEFAULT"
_UNREAD = frozenset({"RETURNING", "USING", "FROM", "OUTPUT", "LIMIT", "ORDER"})
_CLAUSES = _UNREAD | {"SET", "WHERE", "ON", "WHEN"}


def table_named(cursor: Cursor, program: Program) -> Table:
    """A table that takes rows. Raises ProgramError."""
    token = cursor.relation("a table's name")
    try:
        return program.input(token.text)
    except ProgramError as error:
        cursor.fail(str(error), token)


def row_name(cursor: Cursor) -> str:
    """By which the statement calls the row, if not as the table."""
    if cursor.accept("AS") or (cursor.next.kind in ("word", "quoted") and cursor.next.upper not in _CLAUSES):
        return cursor.name("a name").text
    return ""


def column_named(cursor: Cursor, table: Table) -> str:
    """A column of the table, as that calls it. Raises ProgramError."""
    token = cursor.name("a column's name")
    for field in table.schema:
        if field.name.lower() == token.text.lower():
            return field.name
    listed = ", ".join(field.name for field in table.schema)
    return cursor.fail(f"unknown column '{token.text}' in '{table.name}'; columns: {listed}", token)


def columns_listed(cursor: Cursor, table: Table) -> tuple[str, ...]:
    """(column, ...), none of them twice. Raises ProgramError."""
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


def assigned_column(cursor: Cursor, table: Table, name: str, others: Container[str]) -> str:
    """`[name.]column =`, of a column that isn't among those which are set before. Raises ProgramError."""
    if cursor.ahead(1).text == ".":
        before = cursor.name("a column's name")
        if before.text.lower() != name.lower():
            cursor.fail(f"'{before.text}' isn't what changes, which is {name}; set a column of it", before)
        cursor.take()
    token = cursor.next
    column = column_named(cursor, table)
    if column in others:
        cursor.fail(f"column '{column}' is set twice", token)
    cursor.expect("=")
    return column


def source_of(cursor: Cursor) -> tuple[str, str]:
    """(a relation's text, with its name; that name)"""
    start = cursor.next.start
    name = ""
    if cursor.next.text == "(":
        cursor.parentheses()
    else:
        cursor.relation("a table or view, or a query in parentheses")
        name = cursor.ahead(-1).name
    text = cursor.source.text[start : cursor.ahead(-1).stop]
    given = row_name(cursor)
    if not (given or name):
        cursor.fail("the query has no name; write USING (SELECT ...) AS s")
    columns = ""
    if given and cursor.sees("("):
        start = cursor.next.start
        cursor.parentheses()
        columns = cursor.source.text[start : cursor.ahead(-1).stop]
    return (f"{text} AS {quoted([given])}{columns}" if given else text), given or name


def value_text(text: str) -> str:
    """What a column gets, for the compiler."""
    return "NULL" if text.upper() == DEFAULT else text


def value_at(cursor: Cursor) -> tuple[bool, Any]:
    """(whether there is one that is no more than a value, it)"""
    if cursor.accept(DEFAULT):
        return True, None
    try:
        return True, literal(cursor)
    except ProgramError:
        return False, None


def stop_at(cursor: Cursor, *ends: tuple[str, ...]) -> int:
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


def expect_end(cursor: Cursor) -> None:
    """Raises ProgramError for what follows."""
    if cursor.next.kind != "end":
        if cursor.next.upper in _UNREAD:
            cursor.fail(f"{cursor.next.upper} isn't known here; ask for rows by SELECT, also within WHERE")
        cursor.fail(f"expected the end, found {cursor.next}")
