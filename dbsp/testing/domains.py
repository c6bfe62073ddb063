"""The values that random rows have: domains so small that rows, keys and weights meet all the time.

Of each type a few values, the constants that the program compares with, and seldom an end of its range. The
first value is what a failing example shrinks to.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.months import LEAST, MONTHS, MOST
from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.circuits.columns.variants.parsed import parsed
from dbsp.circuits.columns.variants.type import VARIANT
from dbsp.rows.casting import Refused
from dbsp.rows.json_values import decode
from dbsp.rows.literals import array_of
from dbsp.sql.plans.program import Program
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import tokens, unquote
from dbsp.testing.choices import Choices, chance

# of a program's constants, how many a column takes: with more of them keys would seldom meet
_CONSTANTS = 8
_NUMBER = re.compile(r"\d+(\.\d+)?")

_MOMENTS = [
    datetime(2024, 2, 29, 10),
    datetime(2024, 2, 29, 10, 9, 59, 999999),
    datetime(2024, 2, 29, 10, 10),
    datetime(2024, 3, 1),
]
# before 1970, and two ends that every time zone has
_FAR_MOMENTS = [datetime(1969, 12, 31, 23, 55), datetime(1900, 1, 1), datetime(9999, 12, 30, 23, 59, 59)]

_USUAL: dict[pa.DataType, list[Any]] = {
    pa.bool_(): [False, True],
    pa.int8(): [0, 1, 2, 3],
    pa.int16(): [0, 1, 2, 3],
    pa.int32(): [0, 1, 2, 3],
    pa.int64(): [0, 1, 2, 3],
    pa.float32(): [0.0, 1.5, -2.25],
    pa.float64(): [0.0, 1.5, -2.25, 0.1],
    pa.string(): ["", "a", "b", "ab"],
    pa.binary(): [b"", b"\x00", b"a"],
    pa.date32(): [date(2024, 2, 29), date(2024, 3, 1), date(2023, 12, 31)],
    pa.timestamp("us"): _MOMENTS,
    pa.timestamp("us", tz="UTC"): [moment.replace(tzinfo=UTC) for moment in _MOMENTS],
    TIME: [time(10), time(0), time(10, 9, 59, 999999)],
    pa.duration("us"): [timedelta(0), timedelta(minutes=10), timedelta(days=-1)],
    MONTHS: [0, 1, 14, -25],
}
_EDGES: dict[pa.DataType, list[Any]] = {
    pa.int8(): [-1, 127, -128],
    pa.int16(): [-1, 2**15 - 1, -(2**15)],
    pa.int32(): [-1, 2**31 - 1, -(2**31)],
    pa.int64(): [-1, 2**63 - 1, -(2**63)],
    pa.float32(): [math.nan, math.inf],
    pa.float64(): [math.nan, math.inf, -math.inf, 1e16],
    pa.string(): ["ä", "日本", " a ", "A", "NULL", "1"],
    pa.date32(): [date(1969, 12, 31), date(1900, 1, 1), date(9999, 12, 31)],
    pa.timestamp("us"): _FAR_MOMENTS,
    pa.timestamp("us", tz="UTC"): [moment.replace(tzinfo=UTC) for moment in _FAR_MOMENTS],
    TIME: [time(23, 59, 59, 999999), time(12, 0, 0, 500000)],
    MONTHS: [MOST, LEAST],
}


_DOCUMENTS = ["1", '"a"', "null", "[1, null]", '{"a": 1, "b": "x"}', '{"b": {"a": 1.5}}', "1e3"]


def constants(program: Program) -> list[Any]:
    """The numbers and texts in a program, in their order, each once: what its conditions compare with."""
    found: dict[Any, None] = {}
    for token in tokens(as_it_is(program.text, program.name)):
        if token.kind == "string":
            found[unquote(token.text)] = None
        elif token.kind == "number" and (match := _NUMBER.match(token.text)):
            found[Decimal(match[0]) if match[1] else int(match[0])] = None
    return list(found)


def usual(type_: pa.DataType, program: Iterable[Any] = ()) -> list[Any]:
    """Of a simple type: a few values, and those of the program's constants that it has."""
    if pt.is_decimal(type_):
        given = [_scaled(type_, digits) for digits in (0, 150, -225, 9999)]
    else:
        given = _USUAL[type_]
    fitting = [value for constant in program for value in _fitting(constant, type_)]
    return list(dict.fromkeys([*given, *fitting[:_CONSTANTS]]))


def edges(type_: pa.DataType) -> list[Any]:
    """Of a simple type: the ends of its range, and what is easily got wrong."""
    if pt.is_decimal(type_):
        most = 10**type_.precision - 1
        return [_scaled(type_, most, exact=True), _scaled(type_, -most, exact=True)]
    return _EDGES.get(type_, [])


def value(choices: Choices, type_: pa.DataType, program: Iterable[Any] = (), nullable: bool = True) -> Any:
    """Some value of the type: one time in eight NULL, one in sixteen an edge."""
    if nullable and chance(choices, 8):
        return None
    if type_ == VARIANT:
        return parsed(choices.choice(_DOCUMENTS))
    if pt.is_struct(type_):
        return {field.name: value(choices, field.type, program) for field in type_}
    if pt.is_map(type_):
        keys = [value(choices, type_.key_type, program, nullable=False) for _ in range(choices.integer(0, 2))]
        # Spark takes no key twice
        unique = {repr(key): key for key in keys}.values()
        return [(key, value(choices, type_.item_type, program)) for key in unique]
    if pt.is_list(type_):
        return [value(choices, type_.value_type, program) for _ in range(choices.integer(0, 2))]
    far = edges(type_)
    return choices.choice(far if far and chance(choices, 16) else usual(type_, program))


def _scaled(type_: pa.DataType, digits: int, exact: bool = False) -> Decimal:
    """The digits with two after the point, cut to what the type has; exact: with as many as it has."""
    scale = type_.scale if exact else min(type_.scale, 2)
    most = 10 ** (type_.precision - type_.scale + scale) - 1
    # by its text: what computes with decimals rounds them to 28 digits
    return Decimal(f"{max(-most, min(most, digits))}e-{scale}")


def _fitting(constant: Any, type_: pa.DataType) -> list[Any]:
    """The constant as values of the type: itself, of a number the next one too; [] where it is none."""
    if pt.is_string(type_) != isinstance(constant, str) and not pt.is_temporal(type_):
        return []
    if pt.is_boolean(type_) or (pt.is_temporal(type_) and not isinstance(constant, str)):
        return []
    found = []
    for one in [constant] if isinstance(constant, str) else [constant, constant - 1]:
        try:
            read = float(one) if pt.is_floating(type_) else decode(one, type_)
            array_of([read], type_, "UTC")
        except (ValueError, Refused):
            continue
        if isinstance(read, datetime) and type_.tz is not None and read.tzinfo is None:
            read = read.replace(tzinfo=UTC)
        found.append(Decimal(read) if pt.is_decimal(type_) else read)
    return found
