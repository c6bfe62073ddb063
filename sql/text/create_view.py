"""CREATE VIEW and CREATE RECURSIVE VIEW, and where the text of a query ends."""

from __future__ import annotations

from dataclasses import dataclass

from dbsp.sql.text.column_definitions import ColumnDefinition, check_new, column_definition, names
from dbsp.sql.text.create_table import pairs
from dbsp.sql.text.emission_clauses import Clause, emission_clause, emission_start
from dbsp.sql.text.extensions import refuse_if_not_exists, refuse_in_query
from dbsp.sql.text.tokens import Cursor, Slice

QUERY_STARTS = {"SELECT", "WITH", "VALUES", "TABLE", "FROM", "MAP", "REDUCE", "("}
# of a recursive view that doesn't say max_iterations
DEFAULT_ITERATIONS = 1000


@dataclass(frozen=True, slots=True)
class CreateView:
    """kind: 'view', 'local' or 'materialized'; columns: new names, or () to keep the query's.

    emission: when its changes leave; None: at every step.
    """

    name: str
    columns: tuple[str, ...]
    kind: str
    query: Slice
    start: int
    emission: Clause | None = None


@dataclass(frozen=True, slots=True)
class CreateRecursiveView:
    """columns: with the types that its query, and those of other recursive views, read it by."""

    name: str
    columns: tuple[ColumnDefinition, ...]
    kind: str
    max_iterations: int
    query: Slice
    start: int


def create_view(cursor: Cursor, kind: str) -> CreateView:
    """After CREATE [LOCAL | MATERIALIZED] VIEW."""
    refuse_if_not_exists(cursor)
    name = cursor.name("a view's name")
    columns = names(cursor) if cursor.next.text == "(" else ()
    cursor.expect("AS")
    query = query_text(cursor)
    emission = emission_clause(cursor) if cursor.next.kind != "end" else None
    if emission is not None and kind == "local":
        message = (
            f"view '{name.text}' is LOCAL: nothing of it leaves, at no time; declare it with CREATE VIEW"
        )
        raise cursor.source.error(emission.start, message)
    return CreateView(name.text, columns, kind, query, name.start, emission)


def create_recursive_view(cursor: Cursor, kind: str) -> CreateRecursiveView:
    """After CREATE [LOCAL | MATERIALIZED] RECURSIVE VIEW."""
    refuse_if_not_exists(cursor)
    name = cursor.name("a view's name")
    form = f"CREATE RECURSIVE VIEW {name.text} (column TYPE, ...) AS query"
    if not cursor.sees("("):
        cursor.fail(f"recursive view '{name.text}' needs its columns with their types: {form}")
    cursor.take()
    columns: list[ColumnDefinition] = []
    while True:
        at = cursor.next
        column, is_key = column_definition(cursor)
        if is_key or column.lateness is not None or column.constant_domain or column.default is not None:
            cursor.fail(f"a column of a recursive view is name TYPE [NOT NULL]: {form}", at)
        check_new(cursor, column, columns, at)
        columns.append(column)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    iterations = _max_iterations(cursor) if cursor.accept("WITH") else DEFAULT_ITERATIONS
    cursor.expect("AS")
    query = query_text(cursor)
    if cursor.next.kind != "end":
        cure = f"CREATE VIEW v AS SELECT * FROM {name.text} {cursor.next.upper} ..."
        cursor.fail(
            f"not supported yet: {cursor.next.upper} on a recursive view; give it to a view of it: {cure}"
        )
    return CreateRecursiveView(name.text, tuple(columns), kind, iterations, query, name.start)


def _max_iterations(cursor: Cursor) -> int:
    at = cursor.ahead(1)
    iterations = DEFAULT_ITERATIONS
    for name, value in pairs(cursor).items():
        if name.lower() != "max_iterations":
            cursor.fail(f"unknown property '{name}'; properties of a recursive view: max_iterations", at)
        if not value.isdecimal() or not 0 < int(value) < 1 << 31:
            cursor.fail(f"max_iterations is a number from 1, not '{value}'", at)
        iterations = int(value)
    return iterations


def query_text(cursor: Cursor) -> Slice:
    """The query, up to a TRIGGER or EMIT clause or the statement's end."""
    if cursor.next.upper not in QUERY_STARTS:
        cursor.fail(f"expected a query, found {cursor.next}")
    refuse_in_query(cursor)
    return cursor.until(emission_start(cursor))
