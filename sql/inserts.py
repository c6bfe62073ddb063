"""Standing INSERT INTO: the target and whether the view's changes fit it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from circuits.errors import ProgramError
from circuits.operators.trigger import STATE
from sql.plan import Field, Plan, Scan
from sql.program import Insert, Schedule, Table, View
from sql.source import Source, did_you_mean
from sql.statements import InsertInto
from sql.types import ddl
from sql.verify import inputs

# Columns of an INSERT's target that the query doesn't give: a change's weight, its step, and the state
# of a result that EMIT (... RESULT STATE FLAG) says.
WEIGHT = "__weight"
CHANGELOG = {WEIGHT: pa.int64(), "__step": pa.int64(), STATE: pa.string()}


def find_target(
    source: Source, statement: InsertInto, tables: Mapping[str, Table], views: Mapping[str, View]
) -> Table:
    """The table with a sink that INSERT INTO names."""
    for table in tables.values():
        if table.name.lower() == statement.target.lower():
            if table.format is None:
                cure = f"declare it with CREATE TABLE {table.name} (...) USING format OPTIONS (...)"
                message = f"table '{table.name}' has no USING, so there is nowhere to write; {cure}"
                raise source.error(statement.start, message)
            return table
    if statement.target.lower() in {view.lower() for view in views}:
        message = f"can't insert into '{statement.target}': it is a view"
        raise source.error(statement.start, message)
    names = list(tables)
    listed = ", ".join(names) or "none yet"
    hint = did_you_mean(statement.target, names)
    message = f"unknown table '{statement.target}'; tables so far: {listed}{hint}"
    raise source.error(statement.start, message)


def check_fits(source: Source, statement: InsertInto, view: View, target: Table) -> None:
    """The view's columns are the target's, by position."""
    columns = [column for column in target.schema if column.name.lower() not in CHANGELOG]
    weight = any(column.name.lower() == WEIGHT for column in target.schema)
    flagged = isinstance(view.emission, Schedule) and view.emission.flagged
    if not weight and (flagged or not view.append_only):
        message = (
            f"what is inserted into '{target.name}' can retract rows, which a table of rows can't; "
            f"declare a column {WEIGHT} BIGINT in '{target.name}' to get the changelog"
        )
        raise source.error(statement.start, message)
    for column in target.schema:
        kind = CHANGELOG.get(column.name.lower())
        if kind is not None and column.type != kind:
            message = (
                f"column '{column.name}' of '{target.name}' is written as {ddl(kind).upper()}; declare it so"
            )
            raise source.error(statement.start, message)
        if column.name.lower() == STATE and not flagged:
            message = f"column '{STATE}' of '{target.name}' needs a view with EMIT (..., RESULT STATE FLAG)"
            raise source.error(statement.start, message)
    if len(view.schema) != len(columns):
        message = (
            f"the query has {len(view.schema)} columns, table '{target.name}' has {len(columns)}: "
            f"{', '.join(column.name for column in columns)}"
        )
        raise source.error(statement.query.start, message)
    for given, wanted in zip(view.schema, columns, strict=True):
        if given.type != wanted.type:
            message = (
                f"column '{wanted.name}' of '{target.name}' is {ddl(wanted.type).upper()}, "
                f"the query gives {_shown(given)}; CAST it"
            )
            raise source.error(statement.query.start, message)
        if given.nullable and not wanted.nullable:
            message = f"column '{wanted.name}' of '{target.name}' is NOT NULL, the query may give NULL"
            raise source.error(statement.query.start, message)


def _shown(column: Field) -> str:
    return "NULL" if column.type == pa.null() else ddl(column.type).upper()


def check_not_read(inserts: Iterable[Insert], views: Mapping[str, View]) -> None:
    """A target is written, so no view of the program reads it."""
    for insert in inserts:
        for view in views.values():
            if insert.target in _scanned(view.plan):
                message = (
                    f"table '{insert.target}' is written here and read by '{view.name}' ({view.location})"
                )
                raise ProgramError(f"{insert.location}: {message}; read the view that is inserted instead")


def _scanned(plan: Plan) -> set[str]:
    if isinstance(plan, Scan):
        return {plan.relation}
    return {relation for input_ in inputs(plan) for relation in _scanned(input_)}
