"""CREATE TABLE and CREATE STREAM: columns, a key, where rows come from or go to, and properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dbsp.sql.plans.program import CHANGELOGS, MESSAGE_FORMATS
from dbsp.sql.text.annotations import constant_clause
from dbsp.sql.text.column_definitions import (
    CheckClause,
    ColumnDefinition,
    check_constraint,
    check_new,
    column_definition,
    names,
    watermark_for,
)
from dbsp.sql.text.stored_clauses import enforced, stored_clause
from dbsp.sql.text.tokens import Cursor, Slice

# of a table's WITH, and the values that they take; none: a number
_BOOLEAN = ("true", "false")
_WORDS: dict[str, tuple[str, ...]] = {
    "changelog": CHANGELOGS,
    "snapshot": ("every step",),
    "mode": ("keep", "fail"),
    "max_bad_rows": (),
    "format": MESSAGE_FORMATS,
    "key_format": MESSAGE_FORMATS,
    "schema_registry": (),
    "idle_timeout": (),
    "delivery": ("at least once", "exactly once"),
}
_INTERVALS = ("snapshot", "idle_timeout")
# taken as they are
_TEXTS = ("schema_registry",)
PROPERTIES = {"append_only": _BOOLEAN, "unchecked": _BOOLEAN, **_WORDS}


@dataclass(frozen=True, slots=True)
class CreateTable:
    """partitioned: where PARTITIONED BY stands. checks: those that stand beside columns first."""

    name: str
    columns: tuple[ColumnDefinition, ...]
    primary_key: tuple[str, ...]
    format: str | None
    options: dict[str, str]
    properties: dict[str, bool]
    start: int
    is_stream: bool = False
    changelog: str | None = None
    is_snapshot: bool = False
    snapshot_every: Slice | None = None
    mode: str | None = None
    max_bad_rows: int | None = None
    value_format: str | None = None
    key_format: str | None = None
    schema_registry: str | None = None
    partitioned: int | None = None
    idle_timeout: Slice | None = None
    delivery: str | None = None
    checks: tuple[CheckClause, ...] = ()


def create_stream(cursor: Cursor) -> CreateTable:
    """A table that only grows; WITH (materialized = true): whose history may be read."""
    table = create_table(cursor, {"materialized": _BOOLEAN})
    if table.primary_key:
        message = (
            f"stream '{table.name}' can't have a PRIMARY KEY: its rows are never replaced; use CREATE TABLE"
        )
        raise cursor.source.error(table.start, message)
    return replace(table, properties={"append_only": True, **table.properties}, is_stream=True)


def create_table(cursor: Cursor, known: Mapping[str, tuple[str, ...]] = PROPERTIES) -> CreateTable:
    """After CREATE TABLE. known: the properties of WITH, and the values each may have."""
    cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.relation("a table's name")
    if cursor.sees("AS") or cursor.sees("LIKE"):
        cure = f"CREATE VIEW {name.text} AS SELECT ..., which is maintained"
        cursor.fail(f"CREATE TABLE {cursor.next.upper} copies rows once; write {cure}")
    if not cursor.sees("("):
        cursor.fail(f"table '{name.text}' needs its columns: CREATE TABLE {name.text} (name TYPE, ...)")
    cursor.take()
    columns: list[ColumnDefinition] = []
    checks: list[CheckClause] = []
    key: tuple[str, ...] = ()
    while True:
        at = cursor.next
        new_key: tuple[str, ...] = ()
        if (found := check_constraint(cursor)) is not None:
            checks += found
        elif cursor.sees("WATERMARK", "FOR"):
            columns = watermark_for(cursor, columns)
        else:
            new_key = _column_or_key(cursor, columns)
        if key and new_key:
            cursor.fail(
                f"table '{name.text}' has two primary keys; write PRIMARY KEY (a, b) for several columns", at
            )
        key = key or new_key
        if not cursor.accept(","):
            break
    cursor.expect(")")
    format_, options, properties, intervals, partitioned = _clauses(cursor, known, columns)
    words = {word: properties.pop(word, None) for word in _WORDS}
    most = words["max_bad_rows"]
    flags = {name: value == "true" for name, value in properties.items()}
    return CreateTable(
        name.text,
        tuple(columns),
        key,
        format_,
        options,
        flags,
        name.start,
        changelog=words["changelog"],
        is_snapshot=words["snapshot"] is not None,
        snapshot_every=intervals.get("snapshot"),
        mode=words["mode"],
        max_bad_rows=None if most is None else int(most),
        value_format=words["format"],
        key_format=words["key_format"],
        schema_registry=words["schema_registry"],
        partitioned=partitioned,
        idle_timeout=intervals.get("idle_timeout"),
        delivery=words["delivery"],
        checks=(*(check for column in columns for check in column.checks), *checks),
    )


def _column_or_key(cursor: Cursor, columns: list[ColumnDefinition]) -> tuple[str, ...]:
    """What is said of the primary key. A column that is defined here is added to the others."""
    at = cursor.next
    if cursor.sees("CONSTRAINT") and cursor.ahead(2).upper in ("PRIMARY", "FOREIGN"):
        cursor.at += 2
    if cursor.accept("PRIMARY", "KEY"):
        key = names(cursor)
        enforced(cursor)
        return key
    if cursor.sees("FOREIGN", "KEY"):
        stored_clause(cursor)
        return ()
    column, is_key = column_definition(cursor)
    check_new(cursor, column, columns, at)
    columns.append(column)
    return (column.name,) if is_key else ()


_OF_HIVE = ("STORED", "AS", "INPUTFORMAT")


def _clauses(
    cursor: Cursor, known: Mapping[str, tuple[str, ...]], columns: list[ColumnDefinition]
) -> tuple[str | None, dict[str, str], dict[str, str], dict[str, Slice], int | None]:
    """(format, options, properties, those that are intervals, where PARTITIONED BY stands).

    columns: which it may add to, and which it says the collation of.
    """
    format_: str | None = None
    partitioned: int | None = None
    options: dict[str, str] = {}
    properties: dict[str, str] = {}
    intervals: dict[str, Slice] = {}
    collation: Slice | None = None
    while cursor.next.kind != "end":
        if cursor.accept("USING") or (not cursor.sees(*_OF_HIVE) and cursor.accept("STORED", "AS")):
            format_ = _dotted(cursor)
        elif cursor.accept("OPTIONS"):
            options |= pairs(cursor)
        elif cursor.accept("LOCATION"):
            options["path"] = cursor.value()
        elif cursor.accept("WITH"):
            properties, intervals = _properties(cursor, known)
        elif cursor.sees("PARTITIONED", "BY"):
            partitioned = cursor.next.start
            _partitioned_by(cursor, columns)
        elif cursor.accept("DEFAULT", "COLLATION"):
            token = cursor.name("a collation")
            collation = Slice(token.text, token.start)
        elif cursor.sees("AS"):
            cursor.fail("CREATE TABLE AS copies rows once; write CREATE VIEW, which is maintained")
        elif stored_clause(cursor) is None:
            cursor.fail(f"unknown clause {cursor.next}; a table has USING format, OPTIONS (...), WITH (...)")
    if options and format_ is None:
        cursor.fail("OPTIONS needs USING format")
    columns[:] = (replace(column, collation=collation) for column in columns)
    return format_, options, properties, intervals, partitioned


def _partitioned_by(cursor: Cursor, columns: list[ColumnDefinition]) -> None:
    """(a, bucket(4, b)) of the table's columns; (c TYPE) adds one to them."""
    first = cursor.at
    stored_clause(cursor)
    inside = Cursor(cursor.source, [*cursor.tokens[first + 3 : cursor.at - 1], cursor.tokens[cursor.at - 1]])
    while True:
        token, after = inside.next, inside.ahead(1)
        if after.text == "(":
            inside.take()
            inside.parentheses()
        elif after.text in (",", ")"):
            name = inside.name("a column's name").text
            if name.lower() not in {column.name.lower() for column in columns}:
                listed = ", ".join(column.name for column in columns)
                cursor.fail(f"PARTITIONED BY names an unknown column '{name}'; columns: {listed}", token)
        else:
            column, _ = column_definition(inside)
            check_new(inside, column, columns, token)
            columns.append(column)
        if not inside.accept(","):
            break


def _dotted(cursor: Cursor) -> str:
    name = cursor.name("a name").text
    while cursor.accept("."):
        name += "." + cursor.name("a name").text
    return name


def pairs(cursor: Cursor, intervals: dict[str, Slice] | None = None) -> dict[str, str]:
    """(path 'x', "header" = true, a.b 1)

    intervals: where they may be values, those that are, by their names in lower case.
    """
    cursor.expect("(")
    pairs: dict[str, str] = {}
    while True:
        name = cursor.value() if cursor.next.kind == "string" else _dotted(cursor)
        cursor.accept("=")
        if intervals is not None and cursor.sees("INTERVAL"):
            found = constant_clause(cursor, name)
            intervals[name.lower()], pairs[name] = found, found.text
        else:
            pairs[name] = cursor.value()
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return pairs


def _properties(
    cursor: Cursor, known: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, str], dict[str, Slice]]:
    """(the properties, those of them that are intervals)"""
    at = cursor.ahead(1)
    properties: dict[str, str] = {}
    intervals: dict[str, Slice] = {}
    for name, value in pairs(cursor, intervals).items():
        values = known.get(name.lower())
        if values is None:
            cursor.fail(f"unknown property '{name}'; properties: {', '.join(known)}", at)
        if name.lower() in _TEXTS or (name.lower() in intervals and name.lower() in _INTERVALS):
            properties[name.lower()] = value
            continue
        if not values and name.lower() in _INTERVALS:
            cursor.fail(f"property '{name}' is an INTERVAL, not '{value}'", at)
        if not values and not value.isdecimal():
            cursor.fail(f"property '{name}' is a number of rows, not '{value}'", at)
        if values and value.lower() not in values:
            often = " or an INTERVAL" if name.lower() in _INTERVALS else ""
            cursor.fail(f"property '{name}' is {' or '.join(values)}{often}, not '{value}'", at)
        properties[name.lower()] = value.lower()
    return properties, intervals
