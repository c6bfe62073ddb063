"""CREATE TABLE: columns, keys, DEFAULTs, rules, watermarks; and LATENESS, of columns of tables and views."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.operators.inputs.defaults import Default
from dbsp.circuits.operators.inputs.late import LATE_ROWS
from dbsp.circuits.progress.waterline import Amount
from dbsp.sql.catalyst.clock.temporal import default_value
from dbsp.sql.catalyst.reading.errors import spark_error
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.compiler.late_rows import LATE_TYPES, annotated_view, late_rows_view
from dbsp.sql.compiler.row_rules import with_row_rules
from dbsp.sql.compiler.scope.defined import ROW_ID, ROWTIME
from dbsp.sql.compiler.scope.scope import Scope
from dbsp.sql.compiler.sources.bad_rows import BAD_TYPES, bad_rows_view, keeps_bad_rows
from dbsp.sql.compiler.sources.changelogs import MARKS, source_changelog
from dbsp.sql.compiler.sources.idle import check_idle
from dbsp.sql.compiler.sources.messages import check_messages
from dbsp.sql.compiler.targets.formats import check_format
from dbsp.sql.plans.program import ColumnLateness, Table
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.text.annotations import (
    LatenessClause,
    LatenessStatement,
    check_ordered,
    lateness_amount,
    not_constant,
)
from dbsp.sql.text.column_definitions import ColumnDefinition
from dbsp.sql.text.statements.create_table import CreateTable
from dbsp.sql.text.tokens import Slice

# what such a table has beside its columns, in this order
_BESIDE: tuple[tuple[str, Any, bool], ...] = ((ROWTIME, "timestamp", False), (ROW_ID, "long", False))


def add_table(scope: Scope, statement: CreateTable) -> None:
    scope.check_new_name(statement.name, statement.start)
    names = {column.name.lower(): column.name for column in statement.columns}
    for key in statement.primary_key:
        if key.lower() not in names:
            raise scope.source.error(
                statement.start,
                f"PRIMARY KEY of '{statement.name}' names an unknown column '{key}'; "
                f"columns: {', '.join(names.values())}",
            )
    check_format(scope.source, statement, scope.catalyst)
    keys = tuple(names[key.lower()] for key in statement.primary_key)
    fields, spark = scope.columns_of(statement, keys)
    records: Schema = ()
    changelog = statement.changelog
    is_written = statement.name.lower() in scope.written
    check_messages(scope.source, statement, fields, is_written)
    if statement.format is not None and not is_written:
        changelog = source_changelog(scope.source, statement, fields)
        if changelog is not None:
            records, own = fields, [i for i, field in enumerate(fields) if field.name.lower() not in MARKS]
            statement = replace(statement, columns=tuple(statement.columns[i] for i in own))
            fields, spark = tuple(fields[i] for i in own), [spark[i] for i in own]
    kept = keeps_bad_rows(statement, scope.written)
    defaults = tuple(
        _default(scope, statement.name, column, Column(at, fields[at].type), keys)
        for at, column in enumerate(statement.columns)
        if column.default is not None
    )
    lateness = [
        _column_lateness(scope, column.lateness, at, fields[at])
        for at, column in enumerate(statement.columns)
        if column.lateness is not None
    ]
    for column in statement.columns:
        if column.watermark is not None and column.lateness is not None and column.lateness.decreasing:
            message = (
                f"column '{column.name}' decreases, and a WATERMARK waits for greater values; leave one out"
            )
            raise scope.source.error(column.watermark.start, message)
    table = Table(
        statement.name,
        fields,
        keys,
        statement.properties.get("append_only", False),
        statement.properties.get("unchecked", False),
        statement.format,
        statement.options,
        scope.source.location(statement.start),
        tuple(lateness),
        tuple(column.name for column in statement.columns if column.constant_domain),
        changelog,
        defaults,
        records,
        statement.is_snapshot,
        kept,
        statement.max_bad_rows,
        statement.value_format,
        statement.key_format or statement.value_format,
        _snapshot_every(scope, statement),
        statement.schema_registry,
        statement.mode == "keep",
        _idle_timeout(scope, statement, [fields[one.column].type for one in lateness], is_written),
        statement.delivery == "exactly once",
        tuple(
            ColumnLateness(at, _amount(scope, column.watermark, fields[at], "WATERMARK"), None)
            for at, column in enumerate(statement.columns)
            if column.watermark is not None
        ),
    )
    _note_padded(scope, statement)
    scope.catalyst.register(table.name, spark)
    scope.defined.tables[table.name] = table  # of which its own rules are
    scope.defined.tables[table.name] = with_row_rules(scope, statement, table)
    scope.defined.definitions[statement.name] = statement
    if statement.is_stream:
        scope.defined.streams[statement.name] = statement.properties.get("materialized", False)
    _number(scope, scope.defined.tables[statement.name], spark)


def _note_padded(scope: Scope, statement: CreateTable) -> None:
    """Say that a CHAR is no more than a STRING: a table of Spark's pads its values, and what they meet."""
    for column in statement.columns:
        if re.match(r"\s*CHAR(ACTER)?\s*\(", column.type.text, re.IGNORECASE):
            where, kind = scope.source.location(column.type.start), " ".join(column.type.text.split())
            scope.notes.append(
                f"{where}: column '{column.name}' of '{statement.name}': {kind} is STRING: nothing pads it "
                "with blanks, and comparisons see those that it has; where values have blanks, say "
                f"rtrim({column.name})"
            )


def _number(scope: Scope, table: Table, columns: Sequence[tuple[str, Any, bool]]) -> None:
    """Let queries name when rows of a table that only grows came, and their ids, if it declares none."""
    if not table.append_only or table.primary_key:
        return
    declared, text = {name.lower() for name, _, _ in columns}, scope.source.text.lower()
    beside = [one for one in _BESIDE if one[0] not in declared and one[0] in text]
    for size in range(1, len(beside) + 1):
        for some in combinations(beside, size):
            names = tuple(name for name, _, _ in some)
            known = f"{table.name} with {' and '.join(names)}"
            scope.catalyst.register(known, [*columns, *some], of=table.name)
            scope.defined.beside.setdefault(table.name, {})[names] = known


def _idle_timeout(scope: Scope, statement: CreateTable, late: Sequence[pa.DataType], is_written: bool) -> int:
    """In microseconds; 0: it has none."""
    if statement.idle_timeout is None:
        return 0
    timeout = scope.microseconds(statement.idle_timeout)
    check_idle(scope.source, statement, timeout, late, is_written)
    return timeout


def _snapshot_every(scope: Scope, statement: CreateTable) -> int:
    """In microseconds. Raises ProgramError for no time at all."""
    if statement.snapshot_every is None:
        return 0
    every = scope.microseconds(statement.snapshot_every)
    if every <= 0:
        message = f"snapshot of '{statement.name}' is a time from one look to the next; or 'every step'"
        raise scope.source.error(statement.snapshot_every.start, message)
    return every


def _default(
    scope: Scope, table: str, defined: ColumnDefinition, column: Column, keys: Sequence[str]
) -> Default:
    """What a row has in the column where it is given no value: a constant, of the step clock, or drawn."""
    name, text, declared = defined.name, defined.default, defined.type
    assert text is not None
    if name in keys:
        identity = scope.source.text[text.start :].upper().startswith("GENERATED")
        message = f"column '{name}' is of the PRIMARY KEY, which every row says: it can't have a DEFAULT"
        if identity:
            message = (
                f"column '{name}' is an IDENTITY, and of the PRIMARY KEY, which every row says, as it "
                "replaces the row of its key; leave PRIMARY KEY out, where it only tells rows apart, "
                "or the IDENTITY"
            )
        raise scope.source.error(text.start, message)
    dumped = scope.catalyst.query(f"SELECT CAST({text.text} AS {declared.text})")
    error = dumped.get("error", {})
    value = None
    if not error and dumped["plan"] is not None:
        query = Query(scope.source, text, dumped["types"], scope.catalyst.timezone)
        value = default_value(query, dumped, f"{table}.{name}")
    elif error and not error["condition"].startswith("UNRESOLVED_COLUMN"):
        raise spark_error(scope.source, text, {**error, "index": 0}, {})
    if value is None or value.type != column.type:
        message = (
            f"DEFAULT {text.text} of column '{name}' is no constant; it is one, or made of now(), uuid(), "
            "rand(), monotonically_increasing_id() and constants"
        )
        raise scope.source.error(text.start, message)
    return Default(column.index, value)


def declare_late_rows(scope: Scope) -> None:
    """The system view of what arrived too late, for the program's own views to read."""
    scope.defined.views[LATE_ROWS] = late_rows_view()
    scope.catalyst.register(LATE_ROWS, [(name, type_, False) for name, type_ in LATE_TYPES])


def declare_bad_rows(scope: Scope) -> None:
    """The system view of what sources brought that is no row of their tables."""
    scope.defined.views[BAD_ROWS] = bad_rows_view()
    scope.catalyst.register(BAD_ROWS, [(name, type_, False) for name, type_ in BAD_TYPES])


def add_lateness(scope: Scope, statement: LatenessStatement) -> None:
    view = annotated_view(scope.source, statement, scope.defined.views, scope.defined.looked_into)
    if view.component:
        raise scope.source.error(statement.start, f"not supported yet: LATENESS of '{view.name}': recursive")
    names = [column.name.lower() for column in view.schema]
    at = names.index(statement.column.lower())
    if any(one.column == at for one in view.lateness):
        message = f"column '{view.schema[at].name}' of '{view.name}' has a LATENESS already"
        raise scope.source.error(statement.start, message)
    lateness = _column_lateness(scope, statement.clause, at, view.schema[at])
    scope.defined.views[view.name] = replace(view, lateness=(*view.lateness, lateness))


def _column_lateness(scope: Scope, clause: LatenessClause, at: int, column: Field) -> ColumnLateness:
    jump = None if clause.jump is None else _amount(scope, clause.jump, column, "MAX JUMP")
    if clause.percentile is None:
        amount = _amount(scope, clause.amount, column, "lateness")
        return ColumnLateness(at, amount, jump, decreasing=clause.decreasing)
    check_ordered(scope.source, clause.amount, column.type)
    return ColumnLateness(at, 0, jump, clause.percentile, clause.decreasing)


def _amount(scope: Scope, text: Slice, column: Field, what: str) -> Amount:
    constant = scope.constant(text)
    if constant is None:
        raise not_constant(scope.source, text, what)
    return lateness_amount(scope.source, text, constant, column.type, what)
