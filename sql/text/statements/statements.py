"""A program file as statements: CREATE TABLE, CREATE VIEW, CREATE FUNCTION, INSERT INTO.

Heads are read here, token by token; the text of a query or of a column's type is kept as a slice of the
user's text for Catalyst, so that its meaning and its error positions stay the user's.
"""

from __future__ import annotations

from dataclasses import dataclass

from dbsp.circuits.errors import ProgramError
from dbsp.sql.text.annotations import (
    LatenessStatement,
    lateness_statement,
)
from dbsp.sql.text.column_definitions import name_tokens
from dbsp.sql.text.extensions import refuse_statement
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.create_function import CreateFunction, create_function
from dbsp.sql.text.statements.create_sql_function import (
    CreateSqlFunction,
    create_sql_function,
    is_sql_function,
)
from dbsp.sql.text.statements.create_table import CreateTable, create_stream, create_table
from dbsp.sql.text.statements.create_view import (
    QUERY_STARTS,
    CreateRecursiveView,
    CreateView,
    create_recursive_view,
    create_streaming_table,
    create_view,
    query_text,
)
from dbsp.sql.text.statements.session_statements import Ignored, SessionStatement, Use, session_statement
from dbsp.sql.text.tokens import Cursor, InUse, Slice, Token, tokens

STATEMENTS = (
    "CREATE TABLE",
    "CREATE STREAM",
    "CREATE [LOCAL | MATERIALIZED | TEMPORARY] [RECURSIVE] VIEW",
    "CREATE STREAMING TABLE",
    "CREATE [AGGREGATE] FUNCTION",
    "LATENESS",
    "INSERT INTO",
    "UPSERT INTO",
    "USE",
    "SET",
)
_KNOWN = f"statements are {', '.join(STATEMENTS[:-1])} and {STATEMENTS[-1]}"


@dataclass(frozen=True, slots=True)
class InsertInto:
    """columns: of the target, those that are listed, in the order of the query's; None: all of them.

    by_name: those that are called as the query's. upsert: of several rows of a key the last one is meant.
    """

    target: str
    query: Slice
    start: int
    columns: tuple[Token, ...] | None = None
    by_name: bool = False
    upsert: bool = False


Statement = (
    CreateTable
    | CreateView
    | CreateRecursiveView
    | CreateFunction
    | CreateSqlFunction
    | InsertInto
    | LatenessStatement
    | SessionStatement
)
_RELATIONS = (CreateTable, CreateView, CreateRecursiveView)


def has_lateness(statement: Statement) -> bool:
    """Whether the statement annotates a column with LATENESS."""
    if isinstance(statement, CreateTable):
        return any(column.lateness is not None for column in statement.columns)
    return isinstance(statement, LatenessStatement)


def statements(source: Source) -> list[Statement]:
    """Raises ProgramError at the first thing that is no statement of ours."""
    found: list[Statement] = []
    current: list[Token] = []
    in_use = InUse()
    for token in tokens(source):
        if token.text != ";" and token.kind != "end":
            current.append(token)
        elif current:
            cursor = Cursor(source, [*current, Token("end", "", token.start, token.start)], in_use)
            session = session_statement(cursor, {s.name.lower() for s in found if isinstance(s, _RELATIONS)})
            in_use = session.in_use if isinstance(session, Use) else in_use
            found.append(session or _statement(cursor))
            found += [Ignored(*ignored) for ignored in cursor.ignored]
            current = []
    return found


def _statement(cursor: Cursor) -> Statement:
    refuse_statement(cursor)
    if cursor.accept("CREATE"):
        return _create(cursor)
    if cursor.accept("REPLACE", "TABLE"):
        return create_table(cursor)
    if cursor.accept("LATENESS"):
        return lateness_statement(cursor)
    if cursor.sees("INSERT", "INTO") or cursor.sees("UPSERT", "INTO"):
        return _insert(cursor)
    raise _unknown(cursor, cursor.next)


def _create(cursor: Cursor) -> Statement:
    """After CREATE. A name is defined once, so that there is nothing to replace and none that exists."""
    start = cursor.ahead(-1)
    cursor.accept("OR", "REPLACE")
    cursor.accept("OR", "REFRESH")
    cursor.accept("GLOBAL")
    temporary = cursor.accept("TEMPORARY") or cursor.accept("TEMP")
    if cursor.accept("STREAMING", "TABLE") or cursor.accept("STREAMING", "LIVE", "TABLE"):
        return create_streaming_table(cursor)
    if cursor.accept("LIVE", "TABLE"):
        return create_view(cursor, "materialized")
    cursor.accept("LIVE")
    if not temporary and (cursor.accept("TABLE") or cursor.accept("EXTERNAL", "TABLE")):
        return create_table(cursor)
    if cursor.accept("STREAM"):
        return create_stream(cursor)
    for aggregate in (False, True):
        if cursor.accept(*(["AGGREGATE"] if aggregate else []), "FUNCTION"):
            cursor.accept("IF", "NOT", "EXISTS")
            if not aggregate and is_sql_function(cursor):
                return create_sql_function(cursor)
            return create_function(cursor, aggregate)
    for kind in ("VIEW", "LOCAL", "MATERIALIZED"):
        words = () if kind == "VIEW" else (kind,)
        if cursor.accept(*words, "VIEW"):
            return create_view(cursor, kind.lower())
        if cursor.accept(*words, "RECURSIVE", "VIEW"):
            return create_recursive_view(cursor, kind.lower())
    raise _unknown(cursor, start)


def _insert(cursor: Cursor) -> InsertInto:
    start = cursor.next.start
    upsert = cursor.accept("UPSERT", "INTO")
    cursor.accept("INSERT", "INTO")
    cursor.accept("TABLE")
    target = cursor.relation("a table's name")
    _refuse_parts(cursor)
    by_name = cursor.accept("BY", "NAME")
    columns = None if by_name else _listed(cursor)
    if cursor.sees("VALUES"):
        verb = "UPSERT" if upsert else "INSERT"
        cursor.fail(f"{verb} INTO ... VALUES is for replay files; a program inserts the rows of a query")
    query = query_text(cursor)
    if cursor.next.kind != "end":
        word = cursor.next.upper
        cursor.fail(
            f"{word} belongs to a view: CREATE VIEW v AS ... {word} ...; INSERT INTO ... SELECT * FROM v"
        )
    return InsertInto(target.text, query, start, columns, by_name, upsert)


def _refuse_parts(cursor: Cursor) -> None:
    """What a target has a part of replaced by, or written to."""
    if cursor.sees("PARTITION"):
        cursor.fail("not supported: PARTITION of an INSERT; give the column's value in the query")
    if cursor.sees("REPLACE"):
        cursor.fail(
            "not supported: REPLACE of an INSERT, which replaces rows once; INSERT INTO a table with a "
            "PRIMARY KEY keeps it equal to the query"
        )


def _unknown(cursor: Cursor, first: Token) -> ProgramError:
    """At a statement's first token."""
    found = " ".join(token.text for token in cursor.tokens[: 2 if first.upper == "CREATE" else 1])
    return cursor.source.error(first.start, f"unknown statement '{found}'; {_KNOWN}")


def _listed(cursor: Cursor) -> tuple[Token, ...] | None:
    """The columns in parentheses, unless those enclose the query."""
    if cursor.next.text != "(" or cursor.ahead(1).upper in QUERY_STARTS:
        return None
    columns = name_tokens(cursor)
    for number, column in enumerate(columns):
        if column.text.lower() in {other.text.lower() for other in columns[:number]}:
            cursor.fail(f"column '{column.text}' is listed twice", column)
    return columns
