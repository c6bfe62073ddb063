"""FROM_JSON: documents as values of a type, as Spark's JacksonParser converts them in PERMISSIVE mode.

A field that doesn't convert is NULL and the record keeps its others; an array with a bad element is no value
at all, unless the element is itself a record, array or map of which a part converts. The text is read once,
and what is read behind an error is what Jackson reads there.
"""

from __future__ import annotations

import base64
import re
import string
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from circuits.arrow import type_name
from circuits.errors import EvaluationError
from circuits.expressions.casts_time import string_to_date, string_to_timestamp
from circuits.expressions.json_reader import Malformed, Reader
from circuits.expressions.json_writer import Writer
from circuits.expressions.nodes import Call
from circuits.expressions.registry import Value
from circuits.expressions.utf8 import whole_characters
from circuits.expressions.vectors import per_distinct, strict

Convert = Callable[[Reader], Any]

_BITS = {pa.int8(): (-128, 255), pa.int16(): (-(2**15), 2**15 - 1)}  # Jackson's bytes may be unsigned
_BITS |= {pa.int32(): (-(2**31), 2**31 - 1), pa.int64(): (-(2**63), 2**63 - 1)}
_NAMED = {"NaN": "NaN", "+INF": "Infinity", "+Infinity": "Infinity", "Infinity": "Infinity"}
_NAMED |= {"-INF": "-Infinity", "-Infinity": "-Infinity"}
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?")
_BASE64_DIGITS = string.ascii_letters + string.digits + "+/"
_BASE64 = re.compile(r"[A-Za-z0-9+/]{2}(?:[A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==)")
_REFORM = -141_427  # 1582-10-15
_EXACT = Context(prec=2200, rounding=ROUND_HALF_UP, Emax=10**12, Emin=-(10**12))


class _Unconverted(ValueError):
    """The token is no value of the type."""


class _Partial(ValueError):
    """A record, array or map of which a part isn't of its type; `value` is the rest."""

    def __init__(self, value: Any) -> None:
        super().__init__("a part of a value")
        self.value = value


_BAD = (Malformed, _Unconverted)


def _refuse(call: Call) -> str | None:
    options = dict(call.option("options", ()))  # type: ignore[call-overload]
    for name, value in options.items():
        if name.lower() != "mode" or value.upper() not in ("PERMISSIVE", "FAILFAST"):
            return f"the option {name} => {value}"
    names = [field.name for field in call.type] if pt.is_struct(call.type) else []
    if "_corrupt_record" in names:
        return "a column _corrupt_record"
    return _uncovered(call.type)


def _uncovered(type_: pa.DataType) -> str | None:
    """What type in it isn't read."""
    if pt.is_struct(type_):
        if len({field.name for field in type_}) < type_.num_fields:
            return "two fields of one name"
        return next((found for field in type_ if (found := _uncovered(field.type))), None)
    if pt.is_map(type_):
        if not pt.is_string(type_.key_type):
            return f"keys of type {type_name(type_.key_type)}"
        return _uncovered(type_.item_type)
    if pt.is_list(type_):
        return _uncovered(type_.value_type)
    known = pt.is_boolean(type_) or pt.is_string(type_) or pt.is_decimal(type_) or type_ in _BITS
    known = (
        known or pt.is_date(type_) or pt.is_binary(type_) or (pt.is_timestamp(type_) and type_.tz is not None)
    )
    return None if known or pt.is_floating(type_) else f"values of type {type_name(type_)}"


@strict("json_to_structs", refuse=_refuse)
def from_json(call: Call, text: pa.Array) -> Value:
    """NULL of an empty text. mode FAILFAST raises where PERMISSIVE leaves out. Once per distinct text."""
    convert = _root(call.type, str(call.option("timeZoneId", "UTC")))
    options = {name.lower(): value for name, value in call.option("options", ())}  # type: ignore[attr-defined]
    fails = options.get("mode", "").upper() == "FAILFAST"
    missing: dict[str, object] | None = {} if pt.is_struct(call.type) else None  # a record of NULLs

    def run(document: str) -> Any:
        reader = Reader(document, control_characters=False, non_numbers=True)
        try:
            if reader.next() is None:
                return None
            value = convert(reader)
            if value is not None:
                return value
            value = missing
        except _Partial as part:
            value = part.value
        except _BAD:
            value = missing
        if fails:
            raise EvaluationError(
                "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
                f"{document} is no {type_name(call.type)}. With mode PERMISSIVE what isn't one is NULL.",
            )
        return value

    return per_distinct(run, call.type, text)


def _root(type_: pa.DataType, zone: str) -> Convert:
    if pt.is_list(type_) and pt.is_struct(type_.value_type):
        whole, one = _converter(type_, zone), _record(type_.value_type, zone)

        def array_or_one(reader: Reader) -> Any:
            """A record alone is an array of one."""
            if reader.token != "{":
                return whole(reader)
            try:
                return [one(reader)]
            except _Partial as part:
                raise _Partial([part.value]) from part

        return array_or_one
    return _converter(type_, zone)


def _expecting(opening: str, convert: Convert) -> Convert:
    """NULL of null, and of nothing."""

    def run(reader: Reader) -> Any:
        token = _value_token(reader)
        if token in (None, "null"):
            return None
        if token != opening:
            raise _Unconverted
        return convert(reader)

    return run


def _value_token(reader: Reader) -> str | None:
    while reader.token == "name":
        reader.next()
    return reader.token


def _converter(type_: pa.DataType, zone: str) -> Convert:
    if pt.is_struct(type_):
        return _expecting("{", _record(type_, zone))
    if pt.is_map(type_):
        return _expecting("{", _map(_converter(type_.item_type, zone)))
    if pt.is_list(type_):
        return _expecting("[", _array(_converter(type_.value_type, zone)))
    scalar = _scalar(type_, zone)

    def run(reader: Reader) -> Any:
        token = _value_token(reader)
        return None if token in (None, "null") else scalar(reader)

    return run


def _record(type_: pa.DataType, zone: str) -> Convert:
    fields = {field.name: _converter(field.type, zone) for field in type_}

    def run(reader: Reader) -> dict[str, Any]:
        record: dict[str, Any] = {}
        whole = True
        while reader.next() not in (None, "}"):
            name = whole_characters(reader.name)
            if name not in fields:
                reader.skip()
                continue
            try:
                record[name] = fields[name](reader)
            except _Partial as part:
                record[name], whole = part.value, False
            except _BAD:
                whole = False
                reader.skip()
        if not whole:
            raise _Partial(record)
        return record

    return run


def _map(convert: Convert) -> Convert:
    def run(reader: Reader) -> list[tuple[str, Any]]:
        entries: list[tuple[str, Any]] = []
        whole, bad = True, False
        while reader.next() not in (None, "}"):
            name = whole_characters(reader.name)
            try:
                entries.append((name, convert(reader)))
            except _Partial as part:
                entries.append((name, part.value))
                whole = False
            except _BAD:
                bad = True
                reader.skip()
        if bad:
            raise _Unconverted
        if not whole:
            raise _Partial(entries)
        return entries

    return run


def _array(convert: Convert) -> Convert:
    def run(reader: Reader) -> list[Any]:
        elements, whole = [], True
        while reader.next() not in (None, "]"):
            try:
                elements.append(convert(reader))
            except _Partial as part:
                elements.append(part.value)
                whole = False
        if not whole:
            raise _Partial(elements)
        return elements

    return run


def _scalar(type_: pa.DataType, zone: str) -> Convert:
    if pt.is_string(type_):
        return _text
    if pt.is_boolean(type_):
        return _boolean
    if pt.is_decimal(type_):
        return lambda reader: _decimal(reader, type_)
    if pt.is_floating(type_):
        return lambda reader: _floating(reader, type_)
    if pt.is_date(type_):
        return _date
    if pt.is_timestamp(type_):
        return lambda reader: _timestamp(reader, zone)
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
        raise _no_value(reader)
    return reader.token == "true"


def _integer(reader: Reader, type_: pa.DataType) -> int:
    if reader.token != "int":
        raise _no_value(reader)
    value = int(reader.number)
    low, high = _BITS[type_]
    if not low <= value <= high:
        raise _Unconverted
    return value - 256 if type_ == pa.int8() and value > 127 else value


def _floating(reader: Reader, type_: pa.DataType) -> float:
    if reader.token in ("int", "float"):
        text = reader.number
        if reader.token == "int":
            text = str(int(text))  # -0 is an integer
    elif reader.token == "string" and reader.text in _NAMED:
        text = _NAMED[reader.text]
    else:
        raise _no_value(reader)
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
        raise _no_value(reader)
    if not _DECIMAL.fullmatch(text):
        raise _Unconverted
    value = Decimal(text)
    if value and value.adjusted() >= type_.precision - type_.scale:
        raise _Unconverted
    try:
        rounded = value.quantize(Decimal(1).scaleb(-type_.scale), context=_EXACT)
    except InvalidOperation as error:
        raise _Unconverted from error
    if rounded and rounded.adjusted() >= type_.precision - type_.scale:
        raise _Unconverted
    return rounded


def _characters(reader: Reader) -> str:
    """Of a string that isn't empty."""
    if reader.token != "string" or not reader.text:
        raise _no_value(reader)
    return whole_characters(reader.text)


def _date(reader: Reader) -> int:
    text = _characters(reader)
    for written in (text, text.replace("GMT", "")):
        days = _cast(written, pa.date32(), "UTC")
        if days is not None:
            return days
    if re.fullmatch(r"[+-]?[0-9]{1,10}", text) and -(2**31) <= int(text) < 2**31:
        return _gregorian(int(text))  # as Spark 1.5 wrote them
    raise _Unconverted


def _timestamp(reader: Reader, zone: str) -> int:
    """An integer counts seconds, and wraps around."""
    if reader.token == "int":
        seconds = int(reader.number)
        if not -(2**63) <= seconds < 2**63:
            raise _Unconverted
        return (seconds * 1_000_000 + 2**63) % 2**64 - 2**63
    text = _characters(reader)
    for written in (text, text.replace("GMT", "")):
        instant = _cast(written, pa.timestamp("us", "UTC"), zone)
        if instant is not None:
            return instant
    raise _Unconverted


@lru_cache(maxsize=1 << 16)
def _cast(text: str, type_: pa.DataType, zone: str) -> int | None:
    """As CAST reads it, NULL where it can't."""
    call = Call("cast", (), type_, options=(("evalMode", "TRY"), ("timeZoneId", zone)))
    read = string_to_date if pt.is_date(type_) else string_to_timestamp
    value = read(call, pa.array([text])).view(pa.int32() if pt.is_date(type_) else pa.int64())
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
        raise _no_value(reader)
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
            raise _Unconverted
        made += base64.b64decode(group)
        at += 4
    return made


def _no_value(reader: Reader) -> Exception:
    """Spark reads the text of what it rejects, which may be malformed itself."""
    if reader.token == "string":
        _ = reader.text
    return _Unconverted()
