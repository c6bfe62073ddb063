"""JSON values read back: what `dbsp.circuits.columns.forms.json_text` writes, as the same value of the same
type."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from dbsp.circuits.columns.forms.time_of_day import read_time
from dbsp.circuits.columns.variants.parsed import variant_of
from dbsp.circuits.columns.variants.type import Variant
from dbsp.rows.casting import kind
from dbsp.rows.literals import nearest_float

_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def json_value(text: str | bytes) -> Any:
    """What `decode` takes: a JSON value with Decimal for fractions.

    Raises ValueError: json.JSONDecodeError, UnicodeDecodeError, or for what Python reads no more.
    """
    try:
        return json.loads(text, parse_float=Decimal)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except (ValueError, InvalidOperation):
        raise ValueError("a number in it is beyond the range of every type") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def decode_row(row: Mapping[str, Any], types: Mapping[str, pa.DataType]) -> dict[str, Any]:
    """The values of a JSON object. types: by name in lower case; other names are left as they are.

    Raises ValueError, which names the column.
    """
    decoded = dict(row)
    for name, value in row.items():
        type_ = types.get(name.lower())
        if type_ is not None:
            try:
                decoded[name] = decode(value, type_)
            except ValueError as error:
                raise ValueError(f"{value!r} doesn't fit column '{name}': {error}") from None
    return decoded


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
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return nearest_float(value)
    return value


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
    if isinstance(value, date):  # a literal of SQL
        return value
    try:
        return date.fromisoformat(value)
    except (ValueError, TypeError):
        raise ValueError("expected a date such as '2024-02-29'") from None


def _decode_timestamp(value: Any, type_: pa.DataType) -> Any:
    return value if isinstance(value, date) else read_moment(value)


def read_moment(text: Any) -> datetime:
    """'2024-02-29 10:00:00', with T or a blank, a fraction, Z or an offset. Raises ValueError."""
    try:
        return datetime.fromisoformat(text.strip())
    except (ValueError, AttributeError):
        raise ValueError("expected a time such as '2024-02-29 10:00:00'") from None


def _decode_duration(value: Any, type_: pa.DataType) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return timedelta(microseconds=value)
    return value


def _decode_months(value: Any, type_: pa.DataType) -> Any:
    """A number of months, or '1-2' for years and months."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"([+-]?)(\d+)-(\d|1[01])", value.strip())
    if match is None:
        raise ValueError("expected a number of months, or years and months such as '1-2'")
    months = int(match[2]) * 12 + int(match[3])
    return -months if match[1] == "-" else months


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
    "time": lambda value, type_: value if isinstance(value, time) else read_time(value),
    "duration": _decode_duration,
    "months": _decode_months,
    "array": _decode_array,
    "struct": _decode_struct,
    "map": _decode_map,
    "variant": lambda value, type_: value if isinstance(value, Variant) else variant_of(value),
}
