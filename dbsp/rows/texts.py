"""Values of columns from what a person types, in a command or an address: spelled as they are shown."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.variants.type import VARIANT
from dbsp.circuits.errors import DataError
from dbsp.rows.casting import kind
from dbsp.rows.json_values import decode, json_value
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.plans.types import type_name

# of Python's own spellings, `1_000` and ` 1 ` are none of a number's; of more digits than these none fits
_WHOLE = re.compile(r"[+-]?[0-9]{1,400}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_COUNTED = {
    "integer": "a whole number, such as 7",
    "duration": "a whole number of microseconds, such as 1000000",
}


def values_of(columns: Schema, asked: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Per column that is named its value. One that isn't there is left to who knows the columns.

    Raises DataError for a text that is no value of its column, and for a column that is named twice.
    """
    types = {one.name.lower(): one.type for one in columns}
    found: dict[str, Any] = {}
    for name, text in asked:
        if name in found:
            raise DataError(f"{name}= is there twice; for several values say where={name} IN (...)")
        type_ = types.get(name.lower())
        found[name] = text if type_ is None else value_of(name, text, type_)
    return found


def value_of(name: str, text: str, type_: pa.DataType) -> Any:
    """Raises DataError."""
    try:
        return _read(text, type_)
    except ValueError as error:
        raise DataError(f"{name}={text} doesn't fit {type_name(type_)}: {error}") from None


def _read(text: str, type_: pa.DataType) -> Any:
    """Raises ValueError, whose message says what was expected."""
    wanted = kind(type_)
    if wanted == "string":
        return text
    if wanted == "boolean":
        if text.lower() not in ("true", "false"):
            raise ValueError("expected true or false")
        return text.lower() == "true"
    if wanted in _COUNTED:
        if not _WHOLE.fullmatch(text):
            raise ValueError(f"expected {_COUNTED[wanted]}")
        return decode(int(text), type_)
    if wanted == "months" and _WHOLE.fullmatch(text):
        return decode(int(text), type_)
    if wanted == "decimal" and not _NUMBER.fullmatch(text):
        raise ValueError("expected a decimal number")
    if wanted == "float" and _NUMBER.fullmatch(text):
        return _finite(text)
    if pt.is_nested(type_) or type_ == VARIANT:
        return _of_json(text, type_)
    return decode(text, type_)


def _finite(number: str) -> float:
    """The nearest float. An exponent may be beyond what a Decimal has."""
    nearest = float(number)
    if math.isinf(nearest):
        raise ValueError("it is beyond the range of a DOUBLE")
    return nearest


def _of_json(text: str, type_: pa.DataType) -> Any:
    try:
        value = json_value(text)
    except ValueError:
        raise ValueError("expected it as JSON has it, as the rows do") from None
    return decode(value, type_)
