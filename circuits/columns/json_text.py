"""Values as JSON, in one spelling: of changelogs, of late rows, of waterlines.

BOOLEAN, integers      true, 12
FLOAT, DOUBLE          1.5, and "NaN", "Infinity", "-Infinity"
DECIMAL                "12.50": a JSON number would lose digits in most readers (numbers are read too)
STRING                 "text"
BINARY                 base64 text
DATE                   "2024-02-29"
TIMESTAMP              "2024-02-29T10:00:00Z", with a fraction of six digits unless that is zero
TIMESTAMP_NTZ          "2024-02-29T10:00:00"
INTERVAL DAY..SECOND   a number of microseconds
INTERVAL YEAR..MONTH   a number of months
ARRAY, STRUCT          [1, 2], {"x": 1}
MAP                    [["key", "value"], ...]
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from json.encoder import encode_basestring
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.broken_text import listed

_BARE = re.compile(r'"([^\s"\\=,\[\]{}]+)"')
_WORDS = {"true", "false", "null", "NULL"}


def plain(value: str) -> str:
    """For people: JSON without the quotes where nothing could be mistaken for anything else."""
    if value == "null":
        return "NULL"
    match = _BARE.fullmatch(value)
    return match[1] if match and match[1] not in _WORDS else value


def described(rows: pa.RecordBatch, position: int, columns: Iterable[int] | None = None) -> str:
    """One row for a message, `a=1, b=x`. columns: those shown; None: all."""
    one = rows.slice(position, 1)
    shown = range(rows.num_columns) if columns is None else columns
    return ", ".join(f"{rows.schema.names[i]}={plain(encode(one.column(i))[0])}" for i in shown)


def objects(rows: pa.RecordBatch) -> list[str]:
    """A JSON object for each row."""
    names = [encode_basestring(name) for name in rows.schema.names]
    if not names:
        return ["{}"] * rows.num_rows
    listed = zip(*map(encode, rows.columns), strict=True)
    return ["{" + ", ".join(f"{n}: {v}" for n, v in zip(names, row, strict=True)) + "}" for row in listed]


def fields_of(column: pa.Array, null: str = "NULL") -> list[str]:
    """The values as JSON has them, but strings without their quotes."""
    return [_bare(value, null) for value in encode(column)]


def _bare(value: str, null: str) -> str:
    if value == "null":
        return null
    return str(json.loads(value)) if value.startswith('"') else value


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
        one = _encoder(type_)
        texts = ["null" if value is None else one(value) for value in listed(array)]
    if array.null_count:
        valid = array.is_valid().to_pylist()
        texts = [text if there else "null" for text, there in zip(texts, valid, strict=True)]
    return texts


def _encode_nested(array: pa.Array) -> list[str]:
    type_ = array.type
    if pt.is_struct(type_):
        fields = [array.field(i) for i in range(type_.num_fields)]
        if not fields:
            return ["{}"] * len(array)
        return objects(pa.RecordBatch.from_arrays(fields, names=[field.name for field in type_]))
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


def _encoder(type_: pa.DataType) -> Callable[[Any], str]:
    if pt.is_boolean(type_):
        return lambda value: "true" if value else "false"
    if pt.is_integer(type_):
        return str
    if pt.is_floating(type_):
        return _float
    if pt.is_decimal(type_):
        return lambda value: f'"{value:f}"'
    if pt.is_string(type_) or pt.is_large_string(type_):
        return encode_basestring
    assert pt.is_binary(type_) or pt.is_large_binary(type_) or pt.is_fixed_size_binary(type_), type_
    return lambda value: f'"{base64.b64encode(value).decode()}"'
