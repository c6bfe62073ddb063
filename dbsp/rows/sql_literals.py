"""Values as a person writes them in SQL: numbers, texts, times, intervals, lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from dbsp.circuits.columns.forms.time_of_day import read_time
from dbsp.circuits.columns.variants.parsed import parsed
from dbsp.circuits.functions.times.interval_text import NoInterval, read
from dbsp.rows.json_values import decode, read_moment
from dbsp.sql.text.tokens import Cursor, Token, unquote

_NUMBER = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?:[lLsSyYdDfF]|[bB][dD])?")
_VALUES = (
    "a value is a number, 'text', TRUE, FALSE, NULL, DATE '...', TIMESTAMP '...', TIME '...', INTERVAL ..., "
    "X'...', PARSE_JSON('...'), ARRAY(...), MAP(...), STRUCT(...) or NAMED_STRUCT(...)"
)


def typed(cursor: Cursor, token: Token, value: Any, column: str, type_: pa.DataType) -> Any:
    """The value for a column of that type. Raises ProgramError at the token."""
    try:
        return decode(value, type_)
    except ValueError as error:
        cursor.fail(f"{token.text} doesn't fit column '{column}': {error}", token)


def literal(cursor: Cursor) -> Any:
    """A literal as the value JSON would have, or as a Python value of its type."""
    token = cursor.take()
    if token.text == "(":
        value = literal(cursor)
        cursor.expect(")")
        return value
    if token.text in ("-", "+") and cursor.next.kind == "number":
        number = _number(cursor, cursor.take())
        return -number if token.text == "-" else number
    if token.kind == "number":
        return _number(cursor, token)
    if token.upper == "CAST" and cursor.next.text == "(":
        return _cast(cursor)
    if token.upper == "PARSE_JSON" and cursor.next.text == "(":
        cursor.expect("(")
        variant = text_of(cursor, parsed)
        cursor.expect(")")
        return variant
    if token.kind == "string":
        return unquote(token.text)
    if token.kind == "word" and token.upper in ("TRUE", "FALSE", "NULL"):
        return {"TRUE": True, "FALSE": False, "NULL": None}[token.upper]
    if token.kind == "word" and cursor.next.kind == "string" and token.upper in _TYPED:
        return text_of(cursor, _TYPED[token.upper])
    if token.upper == "INTERVAL" and (cursor.next.kind in ("string", "number") or cursor.next.text in "+-"):
        return _interval(cursor)
    if token.kind == "word" and cursor.next.text == "(" and token.upper in _CONSTRUCTORS:
        return _CONSTRUCTORS[token.upper](_arguments(cursor))
    if token.kind == "word" and cursor.next.text == "(" and token.upper in _OF_PAIRS:
        return _OF_PAIRS[token.upper](_pairs(cursor, token))
    return cursor.fail(f"expected a value, found {token}; {_VALUES}", token)


def _cast(cursor: Cursor) -> Any:
    """`CAST(NULL AS any type)`, and a text as a time or a number with a fraction."""
    cursor.expect("(")
    token = cursor.next
    value = literal(cursor)
    cursor.expect("AS")
    type_ = cursor.type("CAST", frozenset())
    cursor.expect(")")
    name = type_.text.strip().upper()
    if value is None:
        return None
    if isinstance(value, str) and name in _READ_AS:
        try:
            return _READ_AS[name](value)
        except ValueError as error:
            cursor.fail(f"{token.text}: {error}", token)
    return cursor.fail(f"expected a value, found CAST({token.text} AS {name}); {_VALUES}", token)


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


def text_of(cursor: Cursor, read: Callable[[str], Any]) -> Any:
    """What a quoted text says."""
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
        values.append(literal(cursor))
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return values


def _pairs(cursor: Cursor, token: Token) -> list[tuple[Any, Any]]:
    """A struct's fields, whose names are texts, or a map's entries, each of another key."""
    values = _arguments(cursor)
    if len(values) % 2:
        cursor.fail(f"{token.upper}(...) takes pairs; here are {len(values)} values", token)
    pairs = list(zip(values[::2], values[1::2], strict=True))
    before: list[Any] = []
    for key, _ in pairs:
        if token.upper == "NAMED_STRUCT" and not isinstance(key, str):
            cursor.fail(f"a field's name is a text, not {key!r}", token)
        if key in before:
            cursor.fail(f"{key!r} is there twice", token)
        before.append(key)
    return pairs


def _day(text: str) -> Any:
    return decode(text, pa.date32())


_TYPED: dict[str, Callable[[str], Any]] = {
    "DATE": _day,
    "TIMESTAMP": read_moment,
    "TIMESTAMP_NTZ": read_moment,
    "TIMESTAMP_LTZ": read_moment,
    "TIME": read_time,
    "X": bytes.fromhex,
}
_READ_AS: dict[str, Callable[[str], Any]] = {
    **{name: _TYPED[name] for name in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIME")},
    "DOUBLE": float,
    "FLOAT": float,
}
_CONSTRUCTORS: dict[str, Callable[[list[Any]], Any]] = {"ARRAY": list, "STRUCT": tuple}
_OF_PAIRS: dict[str, Callable[[list[tuple[Any, Any]]], Any]] = {"NAMED_STRUCT": dict, "MAP": list}
