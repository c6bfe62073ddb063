"""Replay files: deltas and steps as text, JSON lines or SQL, read into a pipeline's queue.

    {"table": "votes", "row": {"user_id": 1, "story_id": 1}, "weight": -1}
    {"table": "customer", "upsert": {"id": 7, "name": "x"}}     {"table": "customer", "delete": {"id": 7}}
    {"step": true}                                              {"step": "2024-01-01 10:00:00"}

Every mistake is reported as `file:line: what`. Values are read by the types of the table's columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np

from dbsp.circuits.columns.arrow import concat, take
from dbsp.circuits.columns.json_text import described
from dbsp.circuits.errors import AbsentRow, DataError, ProgramError, did_you_mean
from dbsp.pipeline.pipeline import Pipeline
from dbsp.rows.incoming import BadRow, arrow_schema, key_rows, whole_rows
from dbsp.rows.json_values import decode, read_moment
from dbsp.sql.plans.program import Program, Table

_FORMS = '{"table": ..., "row" | "upsert" | "delete": {...}} or {"step": true}'


@dataclass(frozen=True, slots=True)
class Change:
    """row: a dict by column, or a tuple by position. where: `file:line`. by_key: only the key counts."""

    row: Any
    weight: int
    by_key: bool
    where: str


@dataclass
class StepOfFile:
    """What one step applies: per table its changes in order, and the step's clock."""

    changes: dict[str, list[Change]] = field(default_factory=dict)
    clock: datetime | None = None


def read_json(lines: Iterable[str], name: str, program: Program) -> Iterator[StepOfFile]:
    """The steps of a file of JSON lines; a last one without `{"step": ...}` counts too. Raises DataError."""
    step = StepOfFile()
    for number, line in enumerate(lines, 1):
        where = f"{name}:{number}"
        if not line.strip():
            continue
        entry = _entry(line, where)
        if "step" in entry:
            step.clock = _clock(entry, where)
            yield step
            step = StepOfFile()
        else:
            table = find_table(entry.get("table"), program, where)
            step.changes.setdefault(table.name, []).append(_change(entry, table, where))
    if step.changes:
        yield step


def _entry(line: str, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(line, parse_float=Decimal)
    except json.JSONDecodeError as error:
        raise DataError(f"{where}:{error.colno}: no JSON: {error.msg}; a line is {_FORMS}") from None
    if not isinstance(entry, dict):
        raise DataError(f"{where}: {line.strip()[:60]} is no object; a line is {_FORMS}")
    return entry


def _clock(entry: dict[str, Any], where: str) -> datetime | None:
    _only(entry, {"step"}, where)
    value = entry["step"]
    if value is True:
        return None
    try:
        if isinstance(value, str):
            return read_moment(value)
    except ValueError:
        pass
    raise DataError(f"{where}: step {value!r}; give true, or a time such as '2024-02-29 10:00:00'")


def _change(entry: dict[str, Any], table: Table, where: str) -> Change:
    kinds = [kind for kind in ("row", "upsert", "delete") if kind in entry]
    if len(kinds) != 1:
        what = f"both {' and '.join(kinds)}" if kinds else "neither row, upsert nor delete"
        raise DataError(f"{where}: {what}; a line is {_FORMS}")
    (kind,) = kinds
    _only(entry, {"table", kind, "weight"} if kind == "row" else {"table", kind}, where)
    row = entry[kind]
    if not isinstance(row, dict):
        raise DataError(f"{where}: {kind} is {row!r}; give an object with the columns of '{table.name}'")
    weight = entry.get("weight", 1)
    if isinstance(weight, bool) or not isinstance(weight, int) or weight == 0 or abs(weight) >= 1 << 62:
        raise DataError(f"{where}: weight {weight!r}; give an integer other than 0")
    if kind == "delete":
        weight = -1
    if table.primary_key and abs(weight) != 1:
        raise DataError(f"{where}: weight {weight}; table '{table.name}' has a PRIMARY KEY: 1 or -1")
    if kind == "upsert" and not table.primary_key:
        raise DataError(f"{where}: table '{table.name}' has no PRIMARY KEY to upsert by; use row")
    types = {column.name.lower(): column.type for column in table.schema}
    try:
        row = {
            name: decode(v, types[name.lower()]) if name.lower() in types else v for name, v in row.items()
        }
    except ValueError as error:
        raise DataError(f"{where}: table '{table.name}': {_first_bad(row, types)}: {error}") from None
    return Change(row, weight, weight < 0 and bool(table.primary_key), where)


def _first_bad(row: dict[str, Any], types: Mapping[str, Any]) -> str:
    for name, value in row.items():
        try:
            decode(value, types[name.lower()]) if name.lower() in types else None
        except ValueError:
            return f"{value!r} doesn't fit column '{name}'"
    return "row"


def _only(entry: dict[str, Any], known: set[str], where: str) -> None:
    strange = sorted(set(entry) - known)
    if strange:
        hint = did_you_mean(strange[0], sorted(known))
        raise DataError(f"{where}: unknown key '{strange[0]}'; keys here: {', '.join(sorted(known))}{hint}")


def find_table(name: object, program: Program, where: str) -> Table:
    """Raises DataError, which says what tables there are."""
    if name is None:
        existing = ", ".join(program.inputs) or "none"
        raise DataError(f"{where}: no table; a line is {_FORMS}; tables: {existing}")
    try:
        return program.input(name)
    except ProgramError as error:
        raise DataError(f"{where}: {error}") from None


def read_file(text: str, name: str, program: Program) -> Iterator[StepOfFile]:
    """The steps of a replay file: SQL if it is named `.sql`, otherwise JSON lines. Raises DataError."""
    if not name.endswith(".sql"):
        return read_json(text.splitlines(), name, program)
    from dbsp.commands.replay_sql import read_sql  # noqa: PLC0415  only for files of that kind

    return read_sql(text, name, program)


def queue(pipeline: Pipeline, step: StepOfFile) -> None:
    """Queue a step's changes. Raises DataError at the place of the first that doesn't fit; none is queued."""
    batches = []
    for name, changes in step.changes.items():
        table = pipeline.program.inputs[name]
        if table.append_only and not table.primary_key:
            _refuse_retractions(table, changes, pipeline.program.timezone)
        rows = _batch(table, changes, pipeline.program.timezone)
        batches.append((name, rows, np.array([change.weight for change in changes], np.int64)))
    for name, rows, weights in batches:
        pipeline.change(name, rows, weights)


def place_of(absent: AbsentRow, step: StepOfFile, pipeline: Pipeline) -> str:
    """`file:line` of the last change that retracts the row."""
    changes = step.changes[absent.table]
    retractions = [change for change in changes if change.weight < 0]
    rows = _batch(pipeline.program.inputs[absent.table], retractions, pipeline.program.timezone)
    found = [change.where for i, change in enumerate(retractions) if described(rows, i) == absent.row]
    return (found or [retractions[-1].where])[-1]  # −0.0 is 0.0 by then


def _refuse_retractions(table: Table, changes: list[Change], timezone: str) -> None:
    """What the step would refuse too, at its place in the file."""
    for change in changes:
        if change.weight < 0:
            row = described(_batch(table, [change], timezone), 0)
            raise DataError(
                f"{change.where}: table '{table.name}' is append-only and can't retract the row ({row}); "
                "declare it without append_only to allow retractions"
            )


def _batch(table: Table, changes: list[Change], timezone: str) -> Any:
    """All changes of a table as one batch, in their order, whatever mix of rows and keys they are."""
    groups: dict[tuple[bool, bool, type, int], list[int]] = {}
    for i, change in enumerate(changes):
        width = len(change.row) if isinstance(change.row, tuple) else 0
        groups.setdefault((change.by_key, change.weight < 0, type(change.row), width), []).append(i)
    parts = []
    for (by_key, retracted, _, _), members in groups.items():
        given = [changes[i].row for i in members]
        try:
            if by_key:
                parts.append(key_rows(table, given, timezone))
            else:
                parts.append(whole_rows(table, given, timezone, retracted))
        except BadRow as error:
            where = changes[members[error.row or 0]].where
            raise DataError(f"{where}: table '{error.table}': {error.problem}") from None
    schema = arrow_schema(table)
    rows = concat(schema, parts)
    position = np.argsort(np.concatenate([np.array(members) for members in groups.values()]))
    return take(rows, position) if len(groups) > 1 else rows
