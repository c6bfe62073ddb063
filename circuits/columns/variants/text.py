"""Variants as JSON, as Spark's `to_json` spells them, in UTC."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from json.encoder import encode_basestring

import pyarrow as pa

from dbsp.circuits.columns.variants.binary import (
    ARRAY,
    BINARY,
    DATE,
    DECIMALS,
    FALSE,
    FLOATS,
    INTEGERS,
    NULL,
    OBJECT,
    SHORT,
    TEXT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TRUE,
)

_WORDS = {NULL: "null", TRUE: "true", FALSE: "false"}
_EPOCH = datetime(1970, 1, 1)
# where Java's text of a double has no exponent
_LEAST, _MOST = 1e-3, 1e7


class MalformedVariant(ValueError):
    """Bytes that are no variant."""


def texts(variants: pa.StructArray) -> list[str]:
    """The JSON text of each, 'null' where there is none. Raises MalformedVariant."""
    keys: dict[bytes, list[str]] = {}
    found = []
    for value, metadata in zip(_listed(variants, 0), _listed(variants, 1), strict=True):
        if value is None or metadata is None:
            found.append("null")
            continue
        try:
            if metadata not in keys:
                keys[metadata] = _keys(metadata)
            found.append(_spelled(value, 0, keys[metadata]))
        except (IndexError, KeyError, UnicodeDecodeError, struct.error, OverflowError):
            raise MalformedVariant(f"no variant is written as {value[:20].hex()}") from None
    return found


def _listed(variants: pa.StructArray, field: int) -> Iterable[bytes | None]:
    listed: list[bytes | None] = variants.flatten()[field].to_pylist()
    return listed


def _number(data: bytes, at: int, size: int, signed: bool = False) -> int:
    return int.from_bytes(_bytes(data, at, size), "little", signed=signed)


def _bytes(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise IndexError
    return data[at : at + size]


def _keys(metadata: bytes) -> list[str]:
    """Of objects, as JSON."""
    size = (metadata[0] >> 6) + 1
    count = _number(metadata, 1, size)
    start = 1 + (count + 2) * size
    ends = [_number(metadata, 1 + (i + 1) * size, size) for i in range(count + 1)]
    return [encode_basestring(_bytes(metadata, start + a, b - a).decode()) for a, b in pairwise(ends)]


def _spelled(data: bytes, at: int, keys: list[str]) -> str:
    kind, info = data[at] & 3, data[at] >> 2
    if kind == SHORT:
        return _text(data, at + 1, info)
    if kind == OBJECT:
        size, id_size, count_size = (info & 3) + 1, (info >> 2 & 3) + 1, 4 if info >> 4 & 1 else 1
        count = _number(data, at + 1, count_size)
        ids = at + 1 + count_size
        offsets = ids + count * id_size
        values = offsets + (count + 1) * size
        fields = [
            f"{keys[_number(data, ids + i * id_size, id_size)]}:"
            f"{_spelled(data, values + _number(data, offsets + i * size, size), keys)}"
            for i in range(count)
        ]
        return f"{{{','.join(fields)}}}"
    if kind == ARRAY:
        size, count_size = (info & 3) + 1, 4 if info >> 2 & 1 else 1
        count = _number(data, at + 1, count_size)
        offsets = at + 1 + count_size
        values = offsets + (count + 1) * size
        items = [_spelled(data, values + _number(data, offsets + i * size, size), keys) for i in range(count)]
        return f"[{','.join(items)}]"
    return _primitive(data, at + 1, info)


def _primitive(data: bytes, at: int, info: int) -> str:
    if info in _WORDS:
        return _WORDS[info]
    if info in INTEGERS:
        return str(_number(data, at, INTEGERS[info], signed=True))
    if info in FLOATS:
        return _float(FLOATS[info].unpack_from(data, at)[0], single=FLOATS[info].size == 4)
    if info in DECIMALS:
        return _decimal(_number(data, at + 1, DECIMALS[info], signed=True), data[at])
    if info == TEXT:
        return _text(data, at + 4, _number(data, at, 4))
    if info == DATE:
        return f'"{date(1970, 1, 1) + timedelta(days=_number(data, at, 4, signed=True))}"'
    if info in (TIMESTAMP, TIMESTAMP_NTZ):
        moment = _EPOCH + timedelta(microseconds=_number(data, at, 8, signed=True))
        shown = str(moment).rstrip("0") if moment.microsecond else str(moment)
        return f'"{shown}{"+00:00" if info == TIMESTAMP else ""}"'
    if info == BINARY:
        size = _number(data, at, 4)
        return f'"{base64.b64encode(_bytes(data, at + 4, size)).decode()}"'
    raise KeyError(info)


def _text(data: bytes, at: int, size: int) -> str:
    return encode_basestring(_bytes(data, at, size).decode())


def _decimal(unscaled: int, scale: int) -> str:
    """Without zeros at the end of a fraction."""
    sign, digits = "-" if unscaled < 0 else "", str(abs(unscaled)).rjust(scale + 1, "0")
    whole, fraction = digits[: len(digits) - scale], digits[len(digits) - scale :].rstrip("0")
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def _float(value: float, single: bool) -> str:
    """As Java has it: 1.0, 1.0E7, 1.0E-4."""
    if not math.isfinite(value):
        return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
    shortest = _shortest_single(value) if single else repr(value)
    if value == 0 or _LEAST <= abs(value) < _MOST:
        plain = f"{Decimal(shortest):f}"
        return plain if "." in plain else f"{plain}.0"
    sign, digits, exponent = Decimal(shortest).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    fraction = text[1:].rstrip("0") or "0"
    return f"{'-' if sign else ''}{text[0]}.{fraction}E{exponent + len(text) - 1}"


def _shortest_single(value: float) -> str:
    """Of the texts that are read as this 32-bit number, the shortest."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.unpack("<f", struct.pack("<f", float(text)))[0] == value:
            return text
    return repr(value)
