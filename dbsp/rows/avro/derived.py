"""The Avro schema of columns: what is registered, or read, where a program gives none.

    TINYINT … INT → int     DATE → date                      DECIMAL(p, s) → bytes, decimal
    BIGINT → long           TIMESTAMP → timestamp-micros     ARRAY, MAP, STRUCT → array, map, record
    STRING → string         TIMESTAMP_NTZ → local-timestamp-micros        TIME → time-micros

A column that can be NULL is a union with null, whose default that is; so it may come and go.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.circuits.errors import Error
from dbsp.rows.changelogs import AFTER, BEFORE, ENVELOPE_OP

_SIMPLE: dict[pa.DataType, Any] = {
    pa.bool_(): "boolean",
    **dict.fromkeys((pa.int8(), pa.int16(), pa.int32()), "int"),
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
    pa.date32(): {"type": "int", "logicalType": "date"},
    TIME: {"type": "long", "logicalType": "time-micros"},
    pa.timestamp("us", tz="UTC"): {"type": "long", "logicalType": "timestamp-micros"},
    pa.timestamp("us"): {"type": "long", "logicalType": "local-timestamp-micros"},
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def schema_of(columns: pa.StructType, topic: str, name: str) -> str:
    """Of rows, as JSON. name: of the record, in a namespace of the topic's. Raises `Unspelled`."""
    return json.dumps(_record(columns, f"{_space(topic)}.{name}"))


def envelope_schema(columns: pa.StructType, topic: str) -> str:
    """Of Debezium's envelopes of rows. Raises `Unspelled`."""
    row = _record(columns, f"{_space(topic)}.Value")
    fields = [
        {"name": BEFORE, "type": ["null", row], "default": None},
        {"name": AFTER, "type": ["null", row["name"]], "default": None},
        {"name": ENVELOPE_OP, "type": "string"},
    ]
    return json.dumps({"type": "record", "name": f"{_space(topic)}.Envelope", "fields": fields})


class Unspelled(Error):
    """Avro has no such values, or names. column: the one that has them."""

    def __init__(self, column: str, why: str) -> None:
        super().__init__(f"column '{column}': {why}")
        self.column, self.why = column, why


def _record(columns: pa.StructType, name: str) -> dict[str, Any]:
    fields: list[dict[str, Any]] = []
    for field in columns:
        if not _NAME.fullmatch(field.name):
            raise Unspelled(field.name, "a name in Avro has letters, digits and _ only; give it another")
        try:
            type_ = _type(field.type, f"{name}_{field.name}")
        except Unspelled as error:
            raise Unspelled(field.name, error.why) from None
        if field.nullable:
            fields.append({"name": field.name, "type": ["null", type_], "default": None})
        else:
            fields.append({"name": field.name, "type": type_})
    return {"type": "record", "name": name, "fields": fields}


def _type(type_: pa.DataType, name: str) -> Any:
    if type_ in _SIMPLE:
        return _SIMPLE[type_]
    if pt.is_decimal(type_):
        return {
            "type": "bytes", "logicalType": "decimal", "precision": type_.precision, "scale": type_.scale
        }  # fmt: skip
    if pt.is_struct(type_):
        return _record(type_, name)
    if pt.is_list(type_):
        return {"type": "array", "items": ["null", _type(type_.value_type, name)]}
    if pt.is_map(type_):
        if not pt.is_string(type_.key_type):
            raise Unspelled(name, "the keys of a map in Avro are text; declare MAP<STRING, ...>")
        return {"type": "map", "values": ["null", _type(type_.item_type, name)]}
    raise Unspelled(name, "avro is given no such values; declare STRING or BIGINT and CAST it")


def _space(topic: str) -> str:
    """A name of letters, digits and _ is one of Avro's; parts of it stand between dots."""
    parts = [re.sub(r"[^A-Za-z0-9_]", "_", part) for part in topic.split(".") if part]
    return ".".join(f"_{part}" if part[0].isdigit() else part for part in parts) or "_"
