"""A program file as statements: CREATE TABLE, CREATE VIEW, CREATE FUNCTION, INSERT INTO.

Heads are read here, token by token; the text of a query or of a column's type is kept as a slice of the
user's text for Catalyst, so that its meaning and its error positions stay the user's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sql.annotations import (
    LatenessClause,
    LatenessStatement,
    constant_clause,
    lateness_clause,
    lateness_statement,
)
from sql.emission import Clause, emission_clause, emission_start
from sql.extensions import refuse_in_query, refuse_statement
from sql.functions import CreateFunction, create_function
from sql.program import SHAPES
from sql.source import Source
from sql.tokens import Cursor, Slice, Token, tokens

_KNOWN = (
    "statements are CREATE TABLE, CREATE STREAM, CREATE [LOCAL | MATERIALIZED] [RECURSIVE] VIEW, CREATE "
    "[AGGREGATE] FUNCTION, LATENESS and INSERT INTO"
)
_TYPE_ENDS = {"NOT", "PRIMARY", "LATENESS", "CONSTANT", "COMMENT", "DEFAULT", "GENERATED", "UNIQUE", "CHECK"}
_QUERY_STARTS = {"SELECT", "WITH", "VALUES", "TABLE", "FROM", "MAP", "REDUCE", "("}
# of a table's WITH, and the values that they take
_BOOLEAN = ("true", "false")
_PROPERTIES = {"append_only": _BOOLEAN, "unchecked": _BOOLEAN, "changelog": SHAPES}
# of a recursive view that doesn't say max_iterations
DEFAULT_ITERATIONS = 1000


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    name: str
    type: Slice
    not_null: bool
    start: int
    lateness: LatenessClause | None = None
    constant_domain: bool = False
    default: Slice | None = None


@dataclass(frozen=True, slots=True)
class CreateTable:
    name: str
    columns: tuple[ColumnDefinition, ...]
    primary_key: tuple[str, ...]
    format: str | None
    options: dict[str, str]
    properties: dict[str, bool]
    start: int
    is_stream: bool = False
    changelog: str | None = None


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
        return _create_table(cursor)
    if cursor.accept("CREATE", "STREAM"):
        return _create_stream(cursor)
    for aggregate in (False, True):
        if cursor.accept("CREATE", *(["AGGREGATE"] if aggregate else []), "FUNCTION"):
            _refuse_if_not_exists(cursor)
            return create_function(cursor, aggregate)
    for kind in ("VIEW", "LOCAL", "MATERIALIZED"):
        words = ("CREATE",) if kind == "VIEW" else ("CREATE", kind)
        if cursor.accept(*words, "VIEW"):
            return _create_view(cursor, kind.lower())
        if cursor.accept(*words, "RECURSIVE", "VIEW"):
            return _create_recursive_view(cursor, kind.lower())
    if cursor.accept("LATENESS"):
        return lateness_statement(cursor)
    if cursor.accept("INSERT", "INTO"):
        cursor.accept("TABLE")
        target = cursor.name("a table's name")
        columns = _listed(cursor)
        if cursor.sees("VALUES"):
            cursor.fail("INSERT INTO ... VALUES is for replay files; a program inserts the rows of a query")
        query = _query(cursor)
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
    if cursor.next.text != "(" or cursor.ahead(1).upper in _QUERY_STARTS:
        return None
    columns = _name_tokens(cursor)
    for number, column in enumerate(columns):
        if column.text.lower() in {other.text.lower() for other in columns[:number]}:
            cursor.fail(f"column '{column.text}' is listed twice", column)
    return columns


def _create_view(cursor: Cursor, kind: str) -> CreateView:
    _refuse_if_not_exists(cursor)
    name = cursor.name("a view's name")
    columns = _names(cursor) if cursor.next.text == "(" else ()
    cursor.expect("AS")
    query = _query(cursor)
    emission = emission_clause(cursor) if cursor.next.kind != "end" else None
    if emission is not None and kind == "local":
        message = (
            f"view '{name.text}' is LOCAL: nothing of it leaves, at no time; declare it with CREATE VIEW"
        )
        raise cursor.source.error(emission.start, message)
    return CreateView(name.text, columns, kind, query, name.start, emission)


def _create_recursive_view(cursor: Cursor, kind: str) -> CreateRecursiveView:
    _refuse_if_not_exists(cursor)
    name = cursor.name("a view's name")
    form = f"CREATE RECURSIVE VIEW {name.text} (column TYPE, ...) AS query"
    if not cursor.sees("("):
        cursor.fail(f"recursive view '{name.text}' needs its columns with their types: {form}")
    cursor.take()
    columns: list[ColumnDefinition] = []
    while True:
        at = cursor.next
        column, is_key = _column(cursor)
        if is_key or column.lateness is not None or column.constant_domain or column.default is not None:
            cursor.fail(f"a column of a recursive view is name TYPE [NOT NULL]: {form}", at)
        _check_new(cursor, column, columns, at)
        columns.append(column)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    iterations = _max_iterations(cursor) if cursor.accept("WITH") else DEFAULT_ITERATIONS
    cursor.expect("AS")
    query = _query(cursor)
    if cursor.next.kind != "end":
        cure = f"CREATE VIEW v AS SELECT * FROM {name.text} {cursor.next.upper} ..."
        cursor.fail(
            f"not supported yet: {cursor.next.upper} on a recursive view; give it to a view of it: {cure}"
        )
    return CreateRecursiveView(name.text, tuple(columns), kind, iterations, query, name.start)


def _max_iterations(cursor: Cursor) -> int:
    at = cursor.ahead(1)
    iterations = DEFAULT_ITERATIONS
    for name, value in _pairs(cursor).items():
        if name.lower() != "max_iterations":
            cursor.fail(f"unknown property '{name}'; properties of a recursive view: max_iterations", at)
        if not value.isdecimal() or not 0 < int(value) < 1 << 31:
            cursor.fail(f"max_iterations is a number from 1, not '{value}'", at)
        iterations = int(value)
    return iterations


def _query(cursor: Cursor) -> Slice:
    """The query, up to a TRIGGER or EMIT clause or the statement's end."""
    if cursor.next.upper not in _QUERY_STARTS:
        cursor.fail(f"expected a query, found {cursor.next}")
    refuse_in_query(cursor)
    return cursor.until(emission_start(cursor))


def _refuse_if_not_exists(cursor: Cursor) -> None:
    if cursor.sees("IF", "NOT", "EXISTS"):
        cursor.fail("IF NOT EXISTS has no meaning here: a program defines each name once")


def _create_stream(cursor: Cursor) -> CreateTable:
    """A table that only grows; WITH (materialized = true): whose history may be read."""
    table = _create_table(cursor, {"materialized": _BOOLEAN})
    if table.primary_key:
        message = (
            f"stream '{table.name}' can't have a PRIMARY KEY: its rows are never replaced; use CREATE TABLE"
        )
        raise cursor.source.error(table.start, message)
    return replace(table, properties={"append_only": True, **table.properties}, is_stream=True)


def _create_table(cursor: Cursor, known: Mapping[str, tuple[str, ...]] = _PROPERTIES) -> CreateTable:
    _refuse_if_not_exists(cursor)
    name = cursor.name("a table's name")
    if not cursor.sees("("):
        cursor.fail(f"table '{name.text}' needs its columns: CREATE TABLE {name.text} (name TYPE, ...)")
    cursor.take()
    columns: list[ColumnDefinition] = []
    key: tuple[str, ...] = ()
    while True:
        at = cursor.next
        if cursor.accept("PRIMARY", "KEY"):
            new_key = _names(cursor)
        else:
            column, is_key = _column(cursor)
            _check_new(cursor, column, columns, at)
            columns.append(column)
            new_key = (column.name,) if is_key else ()
        if key and new_key:
            cursor.fail(
                f"table '{name.text}' has two primary keys; write PRIMARY KEY (a, b) for several columns", at
            )
        key = key or new_key
        if not cursor.accept(","):
            break
    cursor.expect(")")
    format_, options, properties = _clauses(cursor, known)
    changelog = properties.pop("changelog", None)
    flags = {name: value == "true" for name, value in properties.items()}
    return CreateTable(
        name.text, tuple(columns), key, format_, options, flags, name.start, changelog=changelog
    )


def _check_new(cursor: Cursor, column: ColumnDefinition, columns: list[ColumnDefinition], at: Token) -> None:
    if column.name.lower() in {other.name.lower() for other in columns}:
        cursor.fail(f"column '{column.name}' is defined twice", at)


def _names(cursor: Cursor) -> tuple[str, ...]:
    return tuple(token.text for token in _name_tokens(cursor))


def _name_tokens(cursor: Cursor) -> tuple[Token, ...]:
    cursor.expect("(")
    names = [cursor.name("a column's name")]
    while cursor.accept(","):
        names.append(cursor.name("a column's name"))
    cursor.expect(")")
    return tuple(names)


def _column(cursor: Cursor) -> tuple[ColumnDefinition, bool]:
    """name TYPE, then clauses in any order, as the error for an unknown one lists them, and COMMENT."""
    name = cursor.name("a column's name")
    type_ = cursor.type(f"column '{name.text}'", _TYPE_ENDS)
    not_null = is_key = constant_domain = False
    lateness: LatenessClause | None = None
    default: Slice | None = None
    while not (cursor.sees(",") or cursor.sees(")")):
        if cursor.accept("NOT", "NULL"):
            not_null = True
        elif cursor.accept("PRIMARY", "KEY"):
            is_key = True
        elif cursor.sees("LATENESS"):
            if lateness is not None:
                cursor.fail(f"column '{name.text}' has a LATENESS already")
            cursor.take()
            lateness = lateness_clause(cursor)
        elif cursor.accept("CONSTANT", "DOMAIN"):
            constant_domain = True
        elif cursor.sees("DEFAULT"):
            if default is not None:
                cursor.fail(f"column '{name.text}' has a DEFAULT already")
            cursor.take()
            default = constant_clause(cursor, "DEFAULT", "now()")
        elif cursor.accept("COMMENT"):
            cursor.value()
        else:
            form = (
                "a column is name TYPE [NOT NULL] [PRIMARY KEY] [LATENESS amount] [CONSTANT DOMAIN] "
                "[DEFAULT constant]"
            )
            cursor.fail(f"column '{name.text}': unknown clause {cursor.next}; {form}")
    definition = ColumnDefinition(name.text, type_, not_null, name.start, lateness, constant_domain, default)
    return definition, is_key


def _clauses(
    cursor: Cursor, known: Mapping[str, tuple[str, ...]]
) -> tuple[str | None, dict[str, str], dict[str, str]]:
    format_: str | None = None
    options: dict[str, str] = {}
    properties: dict[str, str] = {}
    while cursor.next.kind != "end":
        if cursor.accept("USING"):
            format_ = _dotted(cursor)
        elif cursor.accept("OPTIONS"):
            options = _pairs(cursor)
        elif cursor.accept("WITH"):
            properties = _properties(cursor, known)
        elif cursor.accept("COMMENT"):
            cursor.value()
        else:
            cursor.fail(f"unknown clause {cursor.next}; a table has USING format, OPTIONS (...), WITH (...)")
    if options and format_ is None:
        cursor.fail("OPTIONS needs USING format")
    return format_, options, properties


def _dotted(cursor: Cursor) -> str:
    name = cursor.name("a name").text
    while cursor.accept("."):
        name += "." + cursor.name("a name").text
    return name


def _pairs(cursor: Cursor) -> dict[str, str]:
    """(path 'x', "header" = true, a.b 1)"""
    cursor.expect("(")
    pairs: dict[str, str] = {}
    while True:
        name = cursor.value() if cursor.next.kind == "string" else _dotted(cursor)
        cursor.accept("=")
        pairs[name] = cursor.value()
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return pairs


def _properties(cursor: Cursor, known: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    at = cursor.ahead(1)
    properties: dict[str, str] = {}
    for name, value in _pairs(cursor).items():
        values = known.get(name.lower())
        if values is None:
            cursor.fail(f"unknown property '{name}'; properties: {', '.join(known)}", at)
        if value.lower() not in values:
            cursor.fail(f"property '{name}' is {' or '.join(values)}, not '{value}'", at)
        properties[name.lower()] = value.lower()
    return properties
