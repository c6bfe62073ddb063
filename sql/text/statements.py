"""A program file as statements: CREATE TABLE, CREATE VIEW, CREATE FUNCTION, INSERT INTO.

Heads are read here, token by token; the text of a query or of a column's type is kept as a slice of the
user's text for Catalyst, so that its meaning and its error positions stay the user's.
"""

from __future__ import annotations

from dataclasses import dataclass

from dbsp.sql.text.annotations import (
    LatenessStatement,
    lateness_statement,
)
from dbsp.sql.text.column_definitions import name_tokens
from dbsp.sql.text.create_function import CreateFunction, create_function
from dbsp.sql.text.create_table import CreateTable, create_stream, create_table
from dbsp.sql.text.create_view import (
    QUERY_STARTS,
    CreateRecursiveView,
    CreateView,
    create_recursive_view,
    create_view,
    query_text,
)
from dbsp.sql.text.extensions import refuse_if_not_exists, refuse_statement
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Cursor, Slice, Token, tokens

_KNOWN = (
    "statements are CREATE TABLE, CREATE STREAM, CREATE [LOCAL | MATERIALIZED] [RECURSIVE] VIEW, CREATE "
    "[AGGREGATE] FUNCTION, LATENESS and INSERT INTO"
)


@dataclass(frozen=True, slots=True)
class InsertInto:
    """columns: of the target, those that are listed, in the order of the query's; None: all of them."""

    target: str
    query: Slice
    start: int
    columns: tuple[Token, ...] | None = None


Statement = CreateTable | CreateView | CreateRecursiveView | CreateFunction | InsertInto | LatenessStatement


def has_lateness(statement: Statement) -> bool:
    """Whether the statement annotates a column with LATENESS."""
    if isinstance(statement, CreateTable):
        return any(column.lateness is not None for column in statement.columns)
    return isinstance(statement, LatenessStatement)


def statements(source: Source) -> list[Statement]:
    """Raises ProgramError at the first thing that is no statement of ours."""
    found: list[Statement] = []
    current: list[Token] = []
    for token in tokens(source):
        if token.text != ";" and token.kind != "end":
            current.append(token)
        elif current:
            found.append(_statement(Cursor(source, [*current, Token("end", "", token.start, token.start)])))
            current = []
    return found


def _statement(cursor: Cursor) -> Statement:
    refuse_statement(cursor)
    start = cursor.next.start
    if cursor.accept("CREATE", "OR"):
        cursor.fail("CREATE OR REPLACE has no meaning here: a program defines each name once; use CREATE")
    if cursor.accept("CREATE", "TABLE"):
        return create_table(cursor)
    if cursor.accept("CREATE", "STREAM"):
        return create_stream(cursor)
    for aggregate in (False, True):
        if cursor.accept("CREATE", *(["AGGREGATE"] if aggregate else []), "FUNCTION"):
            refuse_if_not_exists(cursor)
            return create_function(cursor, aggregate)
    for kind in ("VIEW", "LOCAL", "MATERIALIZED"):
        words = ("CREATE",) if kind == "VIEW" else ("CREATE", kind)
        if cursor.accept(*words, "VIEW"):
            return create_view(cursor, kind.lower())
        if cursor.accept(*words, "RECURSIVE", "VIEW"):
            return create_recursive_view(cursor, kind.lower())
    if cursor.accept("LATENESS"):
        return lateness_statement(cursor)
    if cursor.accept("INSERT", "INTO"):
        cursor.accept("TABLE")
        target = cursor.name("a table's name")
        columns = _listed(cursor)
        if cursor.sees("VALUES"):
            cursor.fail("INSERT INTO ... VALUES is for replay files; a program inserts the rows of a query")
        query = query_text(cursor)
        if cursor.next.kind != "end":
            word = cursor.next.upper
            cursor.fail(
                f"{word} belongs to a view: CREATE VIEW v AS ... {word} ...; INSERT INTO ... SELECT * FROM v"
            )
        return InsertInto(target.text, query, start, columns)
    found = " ".join(token.text for token in cursor.tokens[: 2 if cursor.sees("CREATE") else 1])
    raise cursor.source.error(start, f"unknown statement '{found}'; {_KNOWN}")


def _listed(cursor: Cursor) -> tuple[Token, ...] | None:
    """The columns in parentheses, unless those enclose the query."""
    if cursor.next.text != "(" or cursor.ahead(1).upper in QUERY_STARTS:
        return None
    columns = name_tokens(cursor)
    for number, column in enumerate(columns):
        if column.text.lower() in {other.text.lower() for other in columns[:number]}:
            cursor.fail(f"column '{column.text}' is listed twice", column)
    return columns
