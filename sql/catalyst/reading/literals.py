"""Catalyst's internal values as what `pa.scalar(value, type)` holds."""

from __future__ import annotations

import base64
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.sql.plans.types import UnsupportedType

_EPOCH = datetime(1970, 1, 1)
_DAY = 86_400_000_000
_LEAST = -(2**63)


def literal_value(value: Any, type_: pa.DataType) -> object:
    """value: as dumped: days, microseconds, months, decimal text, base64; hashable, None is NULL."""
    if value is None:
        return None
    if pa.types.is_list(type_):
        return tuple(literal_value(item, type_.value_type) for item in value)
    if pa.types.is_map(type_):
        keys = (literal_value(key, type_.key_type) for key in value["keys"])
        items = (literal_value(item, type_.item_type) for item in value["values"])
        return tuple(zip(keys, items, strict=True))
    if type_ == CALENDAR_INTERVAL and isinstance(value, list) and len(value) == 3:
        return tuple(value)
    if pa.types.is_struct(type_):
        return tuple(literal_value(item, field.type) for item, field in zip(value, type_, strict=True))
    return _atom(value, type_)


def broken_text(value: Any) -> Call:
    """A constant whose bytes are no UTF-8, which no literal of ours is: a cast of the bytes."""
    data = Literal(base64.b64decode(value["bytes"]), pa.binary())
    return Call("cast", (data,), pa.string(), False, (("evalMode", "ANSI"),))


def _atom(value: Any, type_: pa.DataType) -> object:
    if pa.types.is_floating(type_):
        number = float(value)
        return math.nan if math.isnan(number) else number
    if pa.types.is_decimal(type_):
        return Decimal(value)
    if pa.types.is_binary(type_):
        return base64.b64decode(value)
    if isinstance(value, dict):
        raise UnsupportedType("a string inside of others that is no UTF-8")
    return _temporal(value, type_) if pa.types.is_temporal(type_) else value


def _temporal(value: Any, type_: pa.DataType) -> object:
    """An interval, time, date or datetime; the bare count where Python's calendar ends (year 1 to 9999)."""
    if pa.types.is_duration(type_):
        if value == _LEAST:  # a timedelta that Arrow doesn't take
            return value
        return timedelta(seconds=value) if type_ == MONTHS else timedelta(microseconds=value)
    if pa.types.is_time(type_):
        return (datetime.min + timedelta(microseconds=value // 1000)).time()
    try:
        if pa.types.is_date(type_):
            return date.fromordinal(value + 719_163)
        moment = _EPOCH + timedelta(microseconds=value)
    except (OverflowError, ValueError):
        return value
    return moment.replace(tzinfo=UTC) if type_.tz else moment
