"""Values of columns as JSON, and back: what is written reads back to the same value of the same type.

BOOLEAN, integers      true, 12
FLOAT, DOUBLE          1.5, and "NaN", "Infinity", "-Infinity"
DECIMAL                "12.50": a JSON number would lose digits in most readers (numbers are read too)
STRING                 "text"
BINARY                 base64 text
DATE                   "2024-02-29"
TIMESTAMP              "2024-02-29T10:00:00Z", with a fraction of six digits unless that is zero
TIMESTAMP_NTZ          "2024-02-29T10:00:00"
INTERVAL DAY..SECOND   a number of microseconds
ARRAY, STRUCT          [1, 2], {"x": 1}
MAP                    [["key", "value"], ...]
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from json.encoder import encode_basestring
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.casting import kind

_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def encode(array: pa.Array) -> list[str]:
    """The JSON text of each value."""
    type_ = array.type
    if pt.is_null(type_):
        return ["null"] * len(array)
    if pt.is_nested(type_):
        texts = _encode_nested(array)
    elif pt.is_timestamp(type_):
        texts = [_timestamp(text) for text in array.cast(pa.string()).to_pylist()]
    elif pt.is_date(type_):
        texts = [f'"{text}"' for text in array.cast(pa.string()).to_pylist()]
    elif pt.is_duration(type_):
        texts = [str(count) for count in array.cast(pa.int64()).to_pylist()]
    else:
        one = _ENCODERS[kind(type_)]
        texts = ["null" if value is None else one(value) for value in array.to_pylist()]
    if array.null_count:
        valid = array.is_valid().to_pylist()
        texts = [text if there else "null" for text, there in zip(texts, valid, strict=True)]
    return texts


def _encode_nested(array: pa.Array) -> list[str]:
    type_ = array.type
    if pt.is_struct(type_):
        names = [encode_basestring(field.name) for field in type_]
        columns = [encode(array.field(i)) for i in range(type_.num_fields)]
        if not columns:
            return ["{}"] * len(array)
        rows = zip(*columns, strict=True)
        return ["{" + ", ".join(f"{n}: {v}" for n, v in zip(names, row, strict=True)) + "}" for row in rows]
    offsets = array.offsets.to_pylist()
    if pt.is_map(type_):
        pairs = zip(encode(array.keys), encode(array.items), strict=True)
        items = [f"[{key}, {item}]" for key, item in pairs]
    else:
        items = encode(array.values)
    return [f"[{', '.join(items[a:b])}]" for a, b in pairwise(offsets)]


def _float(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'


def _timestamp(text: str | None) -> str:
    """From Arrow's `2024-02-29 10:00:00.000000Z`."""
    if text is None:
        return "null"
    moment, zone = (text[:-1], "Z") if text.endswith("Z") else (text, "")
    return f'"{moment.removesuffix(".000000").replace(" ", "T")}{zone}"'


_ENCODERS: dict[str, Callable[[Any], str]] = {
    "boolean": lambda value: "true" if value else "false",
    "integer": str,
    "float": _float,
    "decimal": lambda value: f'"{value:f}"',
    "string": encode_basestring,
    "binary": lambda value: f'"{base64.b64encode(value).decode()}"',
}


def decode(value: Any, type_: pa.DataType) -> Any:
    """A JSON value (with Decimal for fractions) as a Python value for a column of that type.

    Raises ValueError, whose message says what was expected.
    """
    if value is None:
        return None
    read = _DECODERS.get(kind(type_))
    return value if read is None else read(value, type_)


def _decode_float(value: Any, type_: pa.DataType) -> Any:
    if isinstance(value, str):
        if value not in _FLOATS:
            raise ValueError(f"expected a number, {', '.join(_FLOATS)}")
        return _FLOATS[value]
    return float(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


def _decode_decimal(value: Any, type_: pa.DataType) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return Decimal(value)
    except InvalidOperation:
        raise ValueError("expected a decimal number") from None


def _decode_binary(value: Any, type_: pa.DataType) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        raise ValueError("expected base64 text") from None


def _decode_date(value: Any, type_: pa.DataType) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError("expected a date such as '2024-02-29'") from None


def _decode_timestamp(value: Any, type_: pa.DataType) -> Any:
    return read_moment(value) if isinstance(value, str) else value


def read_moment(text: str) -> datetime:
    """'2024-02-29 10:00:00', with T or a blank, a fraction, Z or an offset. Raises ValueError."""
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError("expected a time such as '2024-02-29 10:00:00'") from None


def _decode_duration(value: Any, type_: pa.DataType) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return timedelta(microseconds=value)
    return value


def _decode_array(value: Any, type_: pa.DataType) -> Any:
    return [decode(item, type_.value_type) for item in value] if isinstance(value, list) else value


def _decode_struct(value: Any, type_: pa.DataType) -> Any:
    if not isinstance(value, dict):
        return value
    types = {field.name: field.type for field in type_}
    return {name: decode(item, types[name]) if name in types else item for name, item in value.items()}


def _decode_map(value: Any, type_: pa.DataType) -> Any:
    pairs = list(value.items()) if isinstance(value, dict) else value
    if not isinstance(pairs, list) or any(not isinstance(p, list | tuple) or len(p) != 2 for p in pairs):
        raise ValueError("expected [[key, value], ...] or an object")
    return [(decode(k, type_.key_type), decode(v, type_.item_type)) for k, v in pairs]


_DECODERS: dict[str, Callable[[Any, pa.DataType], Any]] = {
    "float": _decode_float,
    "decimal": _decode_decimal,
    "binary": _decode_binary,
    "date": _decode_date,
    "timestamp": _decode_timestamp,
    "duration": _decode_duration,
    "array": _decode_array,
    "struct": _decode_struct,
    "map": _decode_map,
}
