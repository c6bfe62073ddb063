"""Replay files written as SQL.

    INSERT INTO votes VALUES (1, 1), (2, 1);      DELETE FROM votes VALUES (1, 1);
    UPSERT INTO customer VALUES (7, 'x');         DELETE FROM customer VALUES (7);      -- by key
    STEP;                                         STEP AT TIMESTAMP '2024-01-01 10:00:00';
    ADVANCE visit.at TO TIMESTAMP '2024-01-01 10:00:00';    -- a waterline

Columns may be named, as in INSERT INTO votes (story_id, user_id) VALUES ...
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from dbsp.circuits.errors import DataError, ProgramError
from dbsp.circuits.functions.times.interval_text import NoInterval, read
from dbsp.commands.replays.steps import Advance, Change, StepOfFile, advance, find_table, find_waterline
from dbsp.rows.json_values import decode, read_moment
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Cursor, Token, tokens, unquote

_KNOWN = "statements are INSERT INTO, DELETE FROM, UPSERT INTO ... VALUES, ADVANCE and STEP"
_VALUES = (
    "a value is a number, 'text', TRUE, FALSE, NULL, DATE '...', TIMESTAMP '...', INTERVAL ..., X'...' "
    "or ARRAY(...)"
)
_NUMBER = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?:[lLsSyYdDfF]|[bB][dD])?")


def read_sql(text: str, name: str, program: Program) -> Iterator[StepOfFile]:
    """The steps of the file; what follows the last STEP is one too. Raises DataError, at line and column."""
    source = Source(name, text, text, (0,), (0,), (True,))
    step = StepOfFile()
    try:
        for cursor in _statements(source):
            if cursor.accept("STEP"):
                step.clock = _clock(cursor)
                yield step
                step = StepOfFile()
            elif cursor.accept("ADVANCE"):
                step.advances.append(_advance(cursor, program))
            else:
                _changes(cursor, step, program)
    except ProgramError as error:
        raise DataError(str(error)) from None
    if not step.is_empty:
        yield step


def _statements(source: Source) -> Iterator[Cursor]:
    current: list[Token] = []
    for token in tokens(source):
        if token.text != ";" and token.kind != "end":
            current.append(token)
        elif current:
            yield Cursor(source, [*current, Token("end", "", token.start, token.start)])
            current = []


def _clock(cursor: Cursor) -> datetime | None:
    if cursor.next.kind == "end":
        return None
    cursor.expect("AT")
    cursor.accept("TIMESTAMP")
    clock: datetime = _text(cursor, read_moment)
    _end(cursor)
    return clock


def _advance(cursor: Cursor, program: Program) -> Advance:
    token = cursor.name("a table's name")
    cursor.expect(".")
    column = cursor.name("a column's name")
    one = find_waterline(token.text, column.text, program, cursor.source.location(token.start))
    cursor.expect("TO")
    where = cursor.source.location(cursor.next.start)
    value = _value(cursor)
    _end(cursor)
    return advance(one, value, program, where)


def _end(cursor: Cursor) -> None:
    if cursor.next.kind != "end":
        cursor.fail(f"expected ; found {cursor.next}")


def _changes(cursor: Cursor, step: StepOfFile, program: Program) -> None:
    if cursor.accept("INSERT", "INTO") or cursor.accept("DELETE", "FROM") or cursor.accept("UPSERT", "INTO"):
        verb = cursor.tokens[0].upper
    else:
        cursor.fail(f"unknown statement {cursor.next}; {_KNOWN}")
    token = cursor.relation("a table's name")
    table = find_table(token.text, program, cursor.source.location(token.start))
    if verb == "UPSERT" and not table.primary_key:
        cursor.fail(f"table '{table.name}' has no PRIMARY KEY to upsert by; use INSERT INTO", token)
    columns = _columns(cursor, table)
    if not cursor.accept("VALUES"):
        cursor.fail(f"expected VALUES, found {cursor.next}; rows are listed: VALUES (1, 'a'), (2, 'b')")
    by_key = verb == "DELETE" and bool(table.primary_key)
    changes = step.changes.setdefault(table.name, [])
    while True:
        row, where = _row(cursor, table, columns, by_key)
        changes.append(Change(row, -1 if verb == "DELETE" else 1, by_key, where))
        if not cursor.accept(","):
            break
    _end(cursor)


def _columns(cursor: Cursor, table: Table) -> list[str] | None:
    if not cursor.accept("("):
        return None
    types = {column.name.lower(): column.name for column in table.schema}
    columns: list[str] = []
    while True:
        name = cursor.name("a column's name")
        if name.text.lower() not in types:
            existing = ", ".join(types.values())
            cursor.fail(f"unknown column '{name.text}' in '{table.name}'; columns: {existing}", name)
        if types[name.text.lower()] in columns:
            cursor.fail(f"column '{name.text}' is listed twice", name)
        columns.append(types[name.text.lower()])
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return columns


def _row(cursor: Cursor, table: Table, columns: list[str] | None, by_key: bool) -> tuple[Any, str]:
    start = cursor.expect("(")
    types = {column.name: column.type for column in table.schema}
    values: list[tuple[Token, Any]] = []
    while True:
        token = cursor.next
        values.append((token, _value(cursor)))
        if not cursor.accept(","):
            break
    cursor.expect(")")
    names = columns or list(types)
    if columns is None and by_key and len(values) == len(table.primary_key):
        names = list(table.primary_key)
    if len(values) != len(names):
        cursor.fail(f"{len(values)} values for {len(names)} columns ({', '.join(names)})", start)
    row = {}
    for name, (token, value) in zip(names, values, strict=True):
        row[name] = _typed(cursor, token, value, name, types[name])
    return row, cursor.source.location(start.start)


def _typed(cursor: Cursor, token: Token, value: Any, column: str, type_: pa.DataType) -> Any:
    try:
        return decode(value, type_)
    except ValueError as error:
        cursor.fail(f"{token.text} doesn't fit column '{column}': {error}", token)


def _value(cursor: Cursor) -> Any:
    """A literal as the value JSON would have, or as a Python value of its type."""
    token = cursor.take()
    if token.text in ("-", "+") and cursor.next.kind == "number":
        number = _number(cursor, cursor.take())
        return -number if token.text == "-" else number
    if token.kind == "number":
        return _number(cursor, token)
    if token.kind == "string":
        return unquote(token.text)
    if token.kind == "word" and token.upper in ("TRUE", "FALSE", "NULL"):
        return {"TRUE": True, "FALSE": False, "NULL": None}[token.upper]
    if token.kind == "word" and cursor.next.kind == "string" and token.upper in _TYPED:
        return _text(cursor, _TYPED[token.upper])
    if token.upper == "INTERVAL" and (cursor.next.kind in ("string", "number") or cursor.next.text in "+-"):
        return _interval(cursor)
    if token.kind == "word" and cursor.next.text == "(" and token.upper in _CONSTRUCTORS:
        return _CONSTRUCTORS[token.upper](_arguments(cursor))
    return cursor.fail(f"expected a value, found {token}; {_VALUES}", token)


def _interval(cursor: Cursor) -> Any:
    """`INTERVAL '1-2' YEAR TO MONTH`, `INTERVAL -5 MINUTES`."""
    sign = cursor.take().text if cursor.next.text in ("+", "-") else ""
    token = cursor.take()
    number = unquote(token.text) if token.kind == "string" else token.text
    units = [_unit(cursor)]
    if cursor.accept("TO"):
        units.append(_unit(cursor))
    name = " TO ".join(units)
    try:
        value = read(f"INTERVAL {sign}'{number}' {name}", f"interval {name.lower()}")
    except NoInterval as error:
        cursor.fail(f"{error}", token)
    if units[0] in ("YEAR", "MONTH"):
        return pa.MonthDayNano([value, 0, 0])
    return timedelta(microseconds=value)


def _unit(cursor: Cursor) -> str:
    token = cursor.take()
    unit = token.upper.removesuffix("S")
    if unit not in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"):
        cursor.fail(f"expected a unit such as MONTH or SECONDS, found {token}", token)
    return unit


def _number(cursor: Cursor, token: Token) -> Any:
    match = _NUMBER.fullmatch(token.text)
    if match is None:
        cursor.fail(f"expected a number, found {token}", token)
    text = match[1]
    return int(text) if text.isdigit() else Decimal(text)


def _text(cursor: Cursor, read: Callable[[str], Any]) -> Any:
    token = cursor.take()
    if token.kind != "string":
        cursor.fail(f"expected a quoted text, found {token}", token)
    try:
        return read(unquote(token.text))
    except ValueError as error:
        cursor.fail(f"{token.text}: {error}", token)


def _arguments(cursor: Cursor) -> list[Any]:
    cursor.expect("(")
    values: list[Any] = []
    while not cursor.sees(")"):
        values.append(_value(cursor))
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return values


def _day(text: str) -> Any:
    return decode(text, pa.date32())


_TYPED: dict[str, Callable[[str], Any]] = {
    "DATE": _day,
    "TIMESTAMP": read_moment,
    "TIMESTAMP_NTZ": read_moment,
    "TIMESTAMP_LTZ": read_moment,
    "X": bytes.fromhex,
}
_CONSTRUCTORS: dict[str, Callable[[list[Any]], Any]] = {
    "ARRAY": list,
    "STRUCT": tuple,
    "NAMED_STRUCT": lambda pairs: dict(zip(pairs[::2], pairs[1::2], strict=True)),
    "MAP": lambda pairs: list(zip(pairs[::2], pairs[1::2], strict=True)),
}
