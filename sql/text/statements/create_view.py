"""CREATE VIEW and CREATE RECURSIVE VIEW, and where the text of a query ends."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from dbsp.sql.text.column_definitions import ColumnDefinition, check_new, column_definition
from dbsp.sql.text.emission_clauses import Clause, emission_clause, emission_start, inner_emission
from dbsp.sql.text.expectations import Expectation, expectation
from dbsp.sql.text.extensions import ignore_delays, refuse_in_query
from dbsp.sql.text.statements.create_table import pairs
from dbsp.sql.text.stored_clauses import enforced, stored_clause
from dbsp.sql.text.tokens import Cursor, Slice, Token

QUERY_STARTS = {"SELECT", "WITH", "VALUES", "TABLE", "FROM", "MAP", "REDUCE", "("}
_PROPERTIES = ("append_only", "arrival", "clock", "emit_final")
_CLOCK = re.compile(r"every\s+(\d+\s+)?(millisecond|second|minute|hour|day)s?", re.IGNORECASE)
_MICROSECONDS = {
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
}
_LONGEST = 366 * _MICROSECONDS["day"]
# of a recursive view that doesn't say max_iterations
DEFAULT_ITERATIONS = 1000


@dataclass(frozen=True, slots=True)
class CreateView:
    """kind: 'view', 'local' or 'materialized'; columns: new names, or () to keep the query's.

    types: of the columns, those that are declared. emission: when its changes leave; None: at every step.
    expectations: what its rows must be. grows: whether it is declared as one that takes no row back.
    emit_final: the column whose waterline says that a row is final, and leaves. arrival: the name of a column
    more, of the order in which rows arrive. tick: in which its NOW() goes on, in microseconds; 0: in steps.
    """

    name: str
    columns: tuple[str, ...]
    kind: str
    query: Slice
    start: int
    emission: Clause | None = None
    types: tuple[Slice | None, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    grows: bool = False
    emit_final: str | None = None
    arrival: str | None = None
    tick: int = 0


@dataclass(frozen=True, slots=True)
class CreateRecursiveView:
    """columns: with the types that its query, and those of other recursive views, read it by."""

    name: str
    columns: tuple[ColumnDefinition, ...]
    kind: str
    max_iterations: int
    query: Slice
    start: int


def create_streaming_table(cursor: Cursor) -> CreateView:
    """After CREATE STREAMING TABLE: a view that only grows."""
    return replace(create_view(cursor, "materialized"), grows=True)


def create_view(cursor: Cursor, kind: str) -> CreateView:
    """After CREATE [LOCAL | MATERIALIZED] VIEW."""
    cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.relation("a view's name")
    columns, types, expectations = _columns(cursor) if cursor.next.text == "(" else ((), (), ())
    given: dict[str, str] = {}
    while True:
        if cursor.sees("WITH", "("):
            given |= _properties(cursor)
        elif stored_clause(cursor) is None:
            break
    cursor.expect("AS")
    query = query_text(cursor)
    inner = inner_emission(cursor, query)
    if inner is not None and cursor.next.kind != "end":
        cursor.fail("the view has a TRIGGER or EMIT already, of what it reads; leave one out")
    emission = emission_clause(cursor) if cursor.next.kind != "end" else inner
    if emission is not None and kind == "local":
        message = (
            f"view '{name.text}' is LOCAL: nothing of it leaves, at no time; declare it with CREATE VIEW"
        )
        raise cursor.source.error(emission.start, message)
    final = given.get("emit_final")
    if final is not None and (emission is not None or kind == "local"):
        cursor.fail("emit_final says when the rows of a view leave; leave out TRIGGER, EMIT or LOCAL", name)
    return CreateView(
        name.text,
        columns,
        kind,
        query,
        name.start,
        emission,
        types,
        expectations,
        grows=given.get("append_only", "").lower() == "true",
        emit_final=final,
        arrival=given.get("arrival"),
        tick=int(given.get("clock", 0)),
    )


def _properties(cursor: Cursor) -> dict[str, str]:
    """WITH ('emit_final' = 'column', clock = 'every 10 seconds', append_only = true, ...) of a view."""
    cursor.accept("WITH")
    at = cursor.ahead(1)
    given = {name.lower(): value for name, value in pairs(cursor).items()}
    if "clock" in given:
        given["clock"] = str(_tick(cursor, given["clock"], at))
    for name in given:
        if name not in _PROPERTIES:
            cursor.fail(f"unknown property '{name}'; properties of a view: {', '.join(_PROPERTIES)}", at)
    return given


def _tick(cursor: Cursor, text: str, at: Token) -> int:
    """In microseconds."""
    found = _CLOCK.fullmatch(text.strip())
    every = int(found[1] or 1) * _MICROSECONDS[found[2].lower()] if found else 0
    if not 0 < every <= _LONGEST:
        cursor.fail(f"clock = '{text}': say how often now() goes on, as 'every 10 seconds'", at)
    return every


def _columns(
    cursor: Cursor,
) -> tuple[tuple[str, ...], tuple[Slice | None, ...], tuple[Expectation, ...]]:
    """(name [TYPE] [NOT NULL] [COMMENT '...'], CONSTRAINT name EXPECT (...), ...)"""
    cursor.expect("(")
    columns: list[str] = []
    types: list[Slice | None] = []
    expectations: list[Expectation] = []
    while True:
        if cursor.sees("CONSTRAINT") and cursor.ahead(2).upper == "EXPECT":
            cursor.at += 3
            found = expectation(cursor)
            expectations += [] if found.counts else [found]
        elif cursor.sees("CONSTRAINT") and cursor.ahead(2).upper in ("PRIMARY", "FOREIGN"):
            cursor.at += 2
            if cursor.accept("PRIMARY", "KEY"):
                cursor.ignore("PRIMARY KEY", "a view's key follows from its query", cursor.ahead(-2))
                cursor.parentheses()
                enforced(cursor)
            else:
                stored_clause(cursor)
        else:
            columns.append(cursor.name("a column's name").text)
            plain = cursor.next.text in (",", ")") or cursor.sees("COMMENT") or cursor.sees("NOT", "NULL")
            types.append(None if plain else cursor.type(f"column '{columns[-1]}'", {"NOT", "COMMENT"}))
            cursor.accept("NOT", "NULL")
            stored_clause(cursor)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return tuple(columns), tuple(types), tuple(expectations)


def create_recursive_view(cursor: Cursor, kind: str) -> CreateRecursiveView:
    """After CREATE [LOCAL | MATERIALIZED] RECURSIVE VIEW."""
    cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.relation("a view's name")
    form = f"CREATE RECURSIVE VIEW {name.text} (column TYPE, ...) AS query"
    if not cursor.sees("("):
        cursor.fail(f"recursive view '{name.text}' needs its columns with their types: {form}")
    cursor.take()
    columns: list[ColumnDefinition] = []
    while True:
        at = cursor.next
        column, is_key = column_definition(cursor)
        said = column.lateness, column.default, column.watermark, column.computed
        if is_key or column.constant_domain or column.checks or any(clause is not None for clause in said):
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
    ignore_delays(cursor)
    return cursor.until(emission_start(cursor))
