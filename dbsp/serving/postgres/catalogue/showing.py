"""What the catalogue answers, in the types that a client is told: arrays, moments, numbers of functions."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms import time_of_day
from dbsp.serving.postgres.catalogue.types import FUNCTION_COLUMNS, functions_of
from dbsp.serving.postgres.language.types import (
    BOOL,
    DATE,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    LISTED,
    NUMERIC,
    TEXTS,
    TIMESTAMPTZ,
    oid_of,
)

# numbers of arrays, by those of their values
_ARRAYS = {
    BOOL: 1000,
    INT2: 1005,
    INT4: 1007,
    INT8: 1016,
    FLOAT8: 1022,
    DATE: 1182,
    TIMESTAMPTZ: 1185,
    NUMERIC: 1231,
}
# a text that an array has without quotes
_PLAIN = re.compile(r'[^\s{}",\\]+')


def shown(table: pa.Table) -> pa.Table:
    """Lists as PostgreSQL writes arrays; functions by their names."""
    columns, fields = [], []
    for field, given in zip(table.schema, table.columns, strict=True):
        column, listed = given, None
        if pt.is_list(field.type):
            values = [_array(value) for value in given.to_pylist()]
            column = pa.chunked_array([pa.array(values, pa.string())])
            listed = {
                **LISTED,
                b"of": str(_ARRAYS.get(oid_of(_plain(field.type.value_type)), TEXTS)).encode(),
            }
        elif field.name in FUNCTION_COLUMNS and pt.is_integer(field.type):
            column = pa.chunked_array([pa.array([_function(one) for one in given.to_pylist()], pa.string())])
        else:
            column = given.cast(_plain(field.type))
        columns.append(column)
        fields.append(pa.field(field.name, column.type, metadata=listed))
    return pa.table(columns, schema=pa.schema(fields))


def _plain(type_: pa.DataType) -> pa.DataType:
    """The type as the engine has it."""
    if pt.is_large_string(type_):
        return pa.string()
    if pt.is_timestamp(type_):
        return pa.timestamp("us", None if type_.tz is None else "UTC")
    return time_of_day.TIME if pt.is_time(type_) else type_


def _array(values: list[object] | None) -> str | None:
    return None if values is None else "{" + ",".join(map(_element, values)) + "}"


def _element(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "t" if value else "f"
    text = str(value)
    if _PLAIN.fullmatch(text) and text.upper() != "NULL":
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _function(number: int | None) -> str | None:
    return None if number is None else _NAMES.get(number, str(number) if number else "-")


_NAMES = {one["oid"]: str(one["proname"]) for one in functions_of(0)}
