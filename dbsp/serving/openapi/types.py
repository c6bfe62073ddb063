"""JSON Schema of rows: what `dbsp.circuits.columns.forms.json_text` writes of each type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.variants.type import VARIANT
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.types import type_name

Json = dict[str, Any]

_LOCAL_TIME = r"^-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$"
_TIME_OF_DAY = r"^\d\d:\d\d(:\d\d(\.\d+)?)?$"
_DECIMAL = r"^-?\d+(\.\d+)?$"


def row_schema(schema: Schema) -> Json:
    """Of a view's rows: each has all columns."""
    return {
        "type": "object",
        "properties": {field.name: column_schema(field, field.nullable) for field in schema},
        "required": [field.name for field in schema],
    }


def given_schema(table: Table, marks: Mapping[str, Json]) -> Json:
    """Of rows that are given to a table: what may be NULL, or is filled in, may be left out.

    marks: what a row of a changelog has besides.
    """
    filled = table.filled
    return {
        "type": "object",
        "properties": {
            **{
                field.name: column_schema(field, field.nullable or field.name in filled, given=True)
                for field in table.schema
            },
            **marks,
        },
        "required": [field.name for field in table.schema if not field.nullable and field.name not in filled],
        "additionalProperties": False,
    }


def key_schema(table: Table) -> Json:
    """Of rows that are deleted: keys are enough of a table that has them."""
    columns = {field.name.lower(): field for field in table.schema}
    keys = [columns[name.lower()] for name in table.primary_key] or list(table.schema)
    properties = {field.name: column_schema(field, field.nullable, given=True) for field in table.schema}
    required = [field.name for field in keys if not field.nullable]
    return {"type": "object", "properties": properties, "required": required}


def column_schema(field: Field, nullable: bool, given: bool = False) -> Json:
    """Of a column's value; see `value_schema`."""
    return {**value_schema(field.type, nullable, given), "description": field.type_name}


def value_schema(type_: pa.DataType, nullable: bool = True, given: bool = False) -> Json:
    """Of a value. given: also what is read besides what is written. The description is the type in SQL."""
    if type_ == VARIANT:  # any value of JSON
        return {"description": "VARIANT"}
    found = {**_schema_of(type_, given), "description": type_name(type_)}
    if not nullable:
        return found
    if "type" in found:
        kinds = found["type"] if isinstance(found["type"], list) else [found["type"]]
        return {**found, "type": [*kinds, "null"]}
    return {**found, "anyOf": [*found["anyOf"], {"type": "null"}]}


def _schema_of(type_: pa.DataType, given: bool) -> Json:
    if pt.is_list(type_):
        return {"type": "array", "items": value_schema(type_.value_type, given=given)}
    if pt.is_map(type_):
        pair = [value_schema(type_.key_type, False, given), value_schema(type_.item_type, given=given)]
        item = {"type": "array", "prefixItems": pair, "minItems": 2, "maxItems": 2}
        return {"type": "array", "items": item}
    if pt.is_struct(type_) and type_ != CALENDAR_INTERVAL:
        fields = {field.name: value_schema(field.type, given=given) for field in type_}
        return {"type": "object", "properties": fields}
    if pt.is_floating(type_):
        words = {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]}
        return {"anyOf": [{"type": "number"}, words]}
    if pt.is_decimal(type_):
        text = {"type": "string", "pattern": _DECIMAL}
        return {"anyOf": [text, {"type": "number"}]} if given else text
    if pt.is_timestamp(type_):
        plain = {"type": "string"} if given else {"type": "string", "pattern": _LOCAL_TIME}
        return plain if type_.tz is None else {"type": "string", "format": "date-time"}
    if pt.is_date(type_):
        return {"type": "string", "format": "date"}
    if pt.is_time(type_):
        return {"type": "string", "pattern": _TIME_OF_DAY}
    if pt.is_boolean(type_):
        return {"type": "boolean"}
    if pt.is_integer(type_):
        return {"type": "integer", "format": "int64" if type_ == pa.int64() else "int32"}
    if pt.is_duration(type_) or type_ == MONTHS:  # microseconds, months
        return {"type": "integer", "format": "int64"}
    if pt.is_binary(type_):
        return {"type": "string", "contentEncoding": "base64"}
    return {"type": "string"}
