"""Scalar values of JSON tokens, as Spark's JacksonParser converts them for FROM_JSON."""

from __future__ import annotations

import base64
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.vectors.utf8 import whole_characters
from dbsp.circuits.functions.casts.times import string_to_date, string_to_timestamp
from dbsp.circuits.functions.json.reader import Reader
from dbsp.circuits.functions.json.writer import Writer
from dbsp.circuits.functions.times.date_parse import get_timestamp
from dbsp.circuits.functions.times.time_zones import DAY

Convert = Callable[[Reader], Any]

# the values each type may have; Jackson's bytes may be unsigned
INTEGERS = {pa.int8(): (-128, 255), pa.int16(): (-(2**15), 2**15 - 1)}
INTEGERS |= {pa.int32(): (-(2**31), 2**31 - 1), pa.int64(): (-(2**63), 2**63 - 1)}
_NAMED = {"NaN": "NaN", "+INF": "Infinity", "+Infinity": "Infinity", "Infinity": "Infinity"}
_NAMED |= {"-INF": "-Infinity", "-Infinity": "-Infinity"}
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?")
_BASE64_DIGITS = string.ascii_letters + string.digits + "+/"
_BASE64 = re.compile(r"[A-Za-z0-9+/]{2}(?:[A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==)")
_REFORM = -141_427  # 1582-10-15
_EXACT = Context(prec=2200, rounding=ROUND_HALF_UP, Emax=10**12, Emin=-(10**12))


class Unconverted(ValueError):
    """The token is no value of the type."""


@dataclass(frozen=True, slots=True)
class Times:
    """How times are written. zone: of those without one. A pattern: None for ISO 8601, as CAST reads it."""

    zone: str
    date_pattern: str | None = None
    timestamp_pattern: str | None = None


def scalar(type_: pa.DataType, times: Times) -> Convert:
    """What reads a value of the type; it raises Unconverted or Malformed."""
    if pt.is_string(type_):
        return _text
    if pt.is_boolean(type_):
        return _boolean
    if pt.is_decimal(type_):
        return lambda reader: _decimal(reader, type_)
    if pt.is_floating(type_):
        return lambda reader: _floating(reader, type_)
    if pt.is_date(type_):
        return lambda reader: _date(reader, times.date_pattern)
    if pt.is_timestamp(type_):
        return lambda reader: _timestamp(reader, times)
    if pt.is_binary(type_):
        return _binary
    return lambda reader: _integer(reader, type_)


def _text(reader: Reader) -> str:
    """A string's characters; of anything else its JSON."""
    if reader.token == "string":
        return whole_characters(reader.text)
    writer = Writer(escape_pairs=True)
    writer.copy(reader)
    return whole_characters(str(writer))


def _boolean(reader: Reader) -> bool:
    if reader.token not in ("true", "false"):
        raise no_value(reader)
    return reader.token == "true"


def _integer(reader: Reader, type_: pa.DataType) -> int:
    if reader.token != "int":
        raise no_value(reader)
    value = int(reader.number)
    low, high = INTEGERS[type_]
    if not low <= value <= high:
        raise Unconverted
    return value - 256 if type_ == pa.int8() and value > 127 else value


def _floating(reader: Reader, type_: pa.DataType) -> float:
    if reader.token in ("int", "float"):
        text = reader.number
        if reader.token == "int":
            text = str(int(text))  # -0 is an integer
    elif reader.token == "string" and reader.text in _NAMED:
        text = _NAMED[reader.text]
    else:
        raise no_value(reader)
    value = float(text)
    return value if type_ == pa.float64() else _nearest_float(value, text)


def _nearest_float(value: float, text: str) -> float:
    """The FLOAT next to the digits, which aren't always next to the DOUBLE next to them."""
    with np.errstate(over="ignore"):
        single = np.float32(value)
    if not np.isfinite(single) or float(single) == value:
        return float(single)
    other = np.nextafter(single, np.float32(np.inf if value > single else -np.inf))
    if abs(float(other) - value) == abs(float(single) - value):  # half-way: the digits decide
        exact, middle = Decimal(text), Decimal(value)
        if exact != middle:
            return float(max(single, other) if exact > middle else min(single, other))
    return float(single)


def _decimal(reader: Reader, type_: pa.DataType) -> Decimal:
    if reader.token in ("int", "float"):
        text = reader.number
    elif reader.token == "string" and reader.text:
        text = reader.text.replace(",", "")
    else:
        raise no_value(reader)
    if not _DECIMAL.fullmatch(text):
        raise Unconverted
    value = Decimal(text)
    if value and value.adjusted() >= type_.precision - type_.scale:
        raise Unconverted
    try:
        rounded = value.quantize(Decimal(1).scaleb(-type_.scale), context=_EXACT)
    except InvalidOperation as error:
        raise Unconverted from error
    if rounded and rounded.adjusted() >= type_.precision - type_.scale:
        raise Unconverted
    return rounded


def _characters(reader: Reader) -> str:
    """Of a string that isn't empty."""
    if reader.token != "string" or not reader.text:
        raise no_value(reader)
    return whole_characters(reader.text)


def _date(reader: Reader, pattern: str | None) -> int:
    text = _characters(reader)
    if pattern is not None:
        local = _by_pattern(text, pattern, None)
        if local is None:
            raise Unconverted
        return local // DAY
    for written in (text, text.replace("GMT", "")):
        days = _cast(written, pa.date32(), "UTC")
        if days is not None:
            return days
    if re.fullmatch(r"[+-]?[0-9]{1,10}", text) and -(2**31) <= int(text) < 2**31:
        return _gregorian(int(text))  # as Spark 1.5 wrote them
    raise Unconverted


def _timestamp(reader: Reader, times: Times) -> int:
    """An integer counts seconds, and wraps around."""
    if reader.token == "int":
        seconds = int(reader.number)
        if not -(2**63) <= seconds < 2**63:
            raise Unconverted
        return (seconds * 1_000_000 + 2**63) % 2**64 - 2**63
    text = _characters(reader)
    if times.timestamp_pattern is not None:
        by_pattern = _by_pattern(text, times.timestamp_pattern, times.zone)
        if by_pattern is None:
            raise Unconverted
        return by_pattern
    for written in (text, text.replace("GMT", "")):
        instant = _cast(written, pa.timestamp("us", "UTC"), times.zone)
        if instant is not None:
            return instant
    raise Unconverted


@lru_cache(maxsize=1 << 16)
def _cast(text: str, type_: pa.DataType, zone: str) -> int | None:
    """As CAST reads it, NULL where it can't."""
    call = Call("cast", (), type_, options=(("evalMode", "TRY"), ("timeZoneId", zone)))
    read = string_to_date if pt.is_date(type_) else string_to_timestamp
    value = read(call, pa.array([text])).view(pa.int32() if pt.is_date(type_) else pa.int64())
    return None if value.null_count else int(value[0].as_py())


@lru_cache(maxsize=1 << 16)
def _by_pattern(text: str, pattern: str, zone: str | None) -> int | None:
    """As TO_TIMESTAMP reads it, NULL where it can't. zone: None for a local time."""
    options = (("failOnError", False), ("timeZoneId", zone or "UTC"))
    call = Call("get_timestamp", (), pa.timestamp("us", zone and "UTC"), options=options)
    value = get_timestamp(call, pa.array([text]), pa.scalar(pattern)).view(pa.int64())
    return None if value.null_count else int(value[0].as_py())


def _gregorian(days: int) -> int:
    """Days that count in the Julian calendar up to 1582, as those of the same date."""
    if days >= _REFORM:
        return days
    era, day = divmod(days + 719_470, 1461)  # from March 1st of the year 0
    year = min(day // 365, 3)
    day -= year * 365
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    months = (era * 4 + year - 1970) * 12 + month + 2
    return int(np.datetime64(months, "M").astype("M8[D]").astype(np.int64)) + day


def _binary(reader: Reader) -> bytes:
    """Base64 with its padding, and spaces before any group of four.

    Where it ends after the first of four, Jackson takes the quote for the second, and reads on behind it.
    """
    if reader.token != "string":
        raise no_value(reader)
    is_unread = reader.is_unread
    text, at, made = reader.text, 0, b""
    while at < len(text):
        if text[at] <= " ":
            at += 1
            continue
        group = text[at : at + 4]
        if not _BASE64.fullmatch(group):
            if is_unread and len(group) == 1 and group in _BASE64_DIGITS:
                reader.reopen()
            raise Unconverted
        made += base64.b64decode(group)
        at += 4
    return made


def no_value(reader: Reader) -> Exception:
    """Spark reads the text of what it rejects, which may be malformed itself."""
    if reader.token == "string":
        _ = reader.text
    return Unconverted()
