"""Values of columns from what a person types, in a command or an address."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.errors import DataError
from dbsp.rows.json_values import decode
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.plans.types import type_name


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
    if pt.is_string(type_):
        return text
    try:
        if pt.is_boolean(type_):
            return {"true": True, "false": False}[text.lower()]
        if pt.is_integer(type_) or pt.is_duration(type_):
            return decode(int(text), type_)
        return decode(text, type_)
    except (ValueError, KeyError) as error:
        raise DataError(f"{name}={text} doesn't fit {type_name(type_)}: {error}") from None
