"""Replay files written as JSON lines.

{"table": "votes", "row": {"user_id": 1, "story_id": 1}, "weight": -1}
{"table": "customer", "upsert": {"id": 7, "name": "x"}}     {"table": "customer", "delete": {"id": 7}}
{"step": true}                                              {"step": "2024-01-01 10:00:00"}
{"advance": "visit.at", "to": "2024-01-01 10:00:00"}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from dbsp.circuits.errors import DataError, did_you_mean
from dbsp.commands.replays.steps import Advance, Change, StepOfFile, advance, find_table, find_waterline
from dbsp.rows.json_values import decode_row, json_value, read_moment
from dbsp.sql.plans.program import Program, Table

_FORMS = '{"table": ..., "row" | "upsert" | "delete": {...}} or {"step": true}'


def read_json(lines: Iterable[str], name: str, program: Program) -> Iterator[StepOfFile]:
    """The steps of a file of JSON lines; a last one without `{"step": ...}` counts too. Raises DataError."""
    step = StepOfFile()
    for number, line in enumerate(lines, 1):
        where = f"{name}:{number}"
        if not line.strip():
            continue
        entry = _entry(line, where)
        if "step" in entry:
            step.clock, step.end = _clock(entry, where), where
            yield step
            step = StepOfFile()
        elif "advance" in entry:
            step.advances.append(_advance(entry, program, where))
        else:
            if entry.get("table") is None:
                existing = ", ".join(program.inputs) or "none"
                raise DataError(f"{where}: no table; a line is {_FORMS}; tables: {existing}")
            table = find_table(entry["table"], program, where)
            step.changes.setdefault(table.name, []).append(_change(entry, table, where))
    if not step.is_empty:
        yield step


def _entry(line: str, where: str) -> dict[str, Any]:
    try:
        entry = json_value(line)
    except json.JSONDecodeError as error:
        sql = "" if line.lstrip().startswith(("{", "[")) else "; a file of SQL is named .sql"
        raise DataError(f"{where}:{error.colno}: no JSON: {error.msg}; a line is {_FORMS}{sql}") from None
    except ValueError as error:
        raise DataError(f"{where}: {error}") from None
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


def _advance(entry: dict[str, Any], program: Program, where: str) -> Advance:
    _only(entry, {"advance", "to"}, where)
    relation, dot, column = str(entry["advance"]).rpartition(".")
    if not dot or "to" not in entry:
        raise DataError(f'{where}: give {{"advance": "table.column", "to": value}}')
    return advance(find_waterline(relation, column, program, where), entry["to"], program, where)


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
        raise DataError(f"{where}: weight {weight!r}; give an integer other than 0, of less than 2^62 copies")
    if kind == "delete":
        weight = -1
    if table.primary_key and abs(weight) != 1:
        raise DataError(f"{where}: weight {weight}; table '{table.name}' has a PRIMARY KEY: 1 or -1")
    if kind == "upsert" and not table.primary_key:
        raise DataError(f"{where}: table '{table.name}' has no PRIMARY KEY to upsert by; use row")
    types = {column.name.lower(): column.type for column in table.schema}
    try:
        row = decode_row(row, types)
    except ValueError as error:
        raise DataError(f"{where}: table '{table.name}': {error}") from None
    return Change(row, weight, weight < 0 and bool(table.primary_key), where)


def _only(entry: dict[str, Any], known: set[str], where: str) -> None:
    strange = sorted(set(entry) - known)
    if strange:
        hint = did_you_mean(strange[0], sorted(known))
        raise DataError(f"{where}: unknown key '{strange[0]}'; keys here: {', '.join(sorted(known))}{hint}")
