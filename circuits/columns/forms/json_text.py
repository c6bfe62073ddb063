"""Values as JSON, in one spelling: of changelogs, of late rows, of waterlines.

BOOLEAN, integers      true, 12
FLOAT, DOUBLE          1.5, and "NaN", "Infinity", "-Infinity"
DECIMAL                "12.50": a JSON number would lose digits in most readers (numbers are read too)
STRING                 "text"
BINARY                 base64 text
DATE                   "2024-02-29"
TIMESTAMP              "2024-02-29T10:00:00Z", with a fraction of six digits unless that is zero
TIMESTAMP_NTZ          "2024-02-29T10:00:00"
TIME                   "10:00:00", with a fraction unless that is zero
INTERVAL DAY..SECOND   a number of microseconds
INTERVAL YEAR..MONTH   a number of months
ARRAY, STRUCT          [1, 2], {"x": 1}
VARIANT                what it holds, as Spark's to_json spells it
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
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.forms.broken_text import is_broken, listed
from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.columns.forms.calendar_intervals import texts as calendar_texts
from dbsp.circuits.columns.forms.time_of_day import spelled
from dbsp.circuits.columns.variants.text import texts as variant_texts
from dbsp.circuits.columns.variants.type import VARIANT

_BARE = re.compile(r'"([^\s"\\=,\[\]{}]+)"')
# in a string of JSON
_ESCAPED = r'[\x00-\x1f"\\]'
# digits after the point of a DECIMAL that Arrow never writes as 1E-7
_WITHOUT_EXPONENT = 6
# bytes of rows that are spelled at once
_AT_ONCE = 1 << 28
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
    if rows.num_rows > 1 and rows.nbytes > _AT_ONCE:  # a column of texts has 2 GB at most
        half = rows.num_rows // 2
        return objects(rows.slice(0, half)) + objects(rows.slice(half))
    found: list[str] = object_texts(rows).to_pylist()
    return found


def object_texts(rows: pa.RecordBatch) -> pa.StringArray:
    """The same as a column, without a loop over rows where the types have kernels; of 2 GB at most."""
    names = [encode_basestring(name) for name in rows.schema.names]
    if not names:
        return pa.repeat("{}", rows.num_rows)
    heads = ["{" + names[0] + ": ", *(f", {name}: " for name in names[1:])]
    pieces = [piece for pair in zip(heads, map(texts, rows.columns), strict=True) for piece in pair]
    return pc.binary_join_element_wise(*pieces, "}", "")


def fields_of(column: pa.Array, null: str = "NULL") -> list[str]:
    """The values as JSON has them, but strings without their quotes. A VARIANT is JSON, and has them."""
    if column.type == VARIANT:
        there = column.is_valid().to_pylist()
        return [text if is_there else null for text, is_there in zip(encode(column), there, strict=True)]
    return [_bare(value, null) for value in encode(column)]


def _bare(value: str, null: str) -> str:
    if value == "null":
        return null
    return str(json.loads(value)) if value.startswith('"') else value


def encode(array: pa.Array) -> list[str]:
    """The JSON text of each value."""
    made = _by_kernels(array)
    if made is not None:
        found: list[str] = pc.fill_null(made, "null").to_pylist()
        return found
    written = _one_by_one(array)
    if array.null_count:
        valid = array.is_valid().to_pylist()
        written = [text if there else "null" for text, there in zip(written, valid, strict=True)]
    return written


def texts(array: pa.Array) -> pa.StringArray:
    """The same as a column."""
    made = _by_kernels(array)
    return pa.array(encode(array), pa.string()) if made is None else pc.fill_null(made, "null")


def _by_kernels(array: pa.Array) -> pa.StringArray | None:
    """The texts, NULL where there is no value; None: no kernel spells these values as JSON does."""
    type_ = array.type
    if pt.is_boolean(type_) or pt.is_integer(type_):
        return array.cast(pa.string())
    if pt.is_duration(type_):
        return array.cast(pa.int64()).cast(pa.string())
    if pt.is_decimal(type_) and 0 <= type_.scale <= _WITHOUT_EXPONENT:
        return _quoted(array.cast(pa.string()))
    if pt.is_date(type_):
        return _quoted(array.cast(pa.string()))
    if pt.is_time(type_):
        return _quoted(spelled(array))
    if pt.is_timestamp(type_):  # from Arrow's `2024-02-29 10:00:00.000000Z`
        moments = pc.replace_substring(array.cast(pa.string()), " ", "T", max_replacements=1)
        return _quoted(pc.replace_substring_regex(moments, r"\.000000(Z?)$", r"\1"))
    if type_ == CALENDAR_INTERVAL:
        return _quoted(calendar_texts(array))
    if pt.is_string(type_) and not is_broken(array):
        escaped = pc.any(pc.match_substring_regex(array, _ESCAPED)).as_py()
        return None if escaped else _quoted(array)
    return None


def _quoted(array: pa.StringArray) -> pa.StringArray:
    return pc.binary_join_element_wise('"', array, '"', "")


def _one_by_one(array: pa.Array) -> list[str]:
    """What stands where there is no value is no matter."""
    type_ = array.type
    if pt.is_null(type_):
        return ["null"] * len(array)
    if type_ == VARIANT:
        return variant_texts(array)
    if pt.is_nested(type_):
        return _encode_nested(array)
    one = _encoder(type_)
    return ["null" if value is None else one(value) for value in listed(array)]


def _encode_nested(array: pa.Array) -> list[str]:
    type_ = array.type
    if pt.is_struct(type_):
        fields = array.flatten()  # NULL where the struct is: what else stands there needn't be a value
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


def _encoder(type_: pa.DataType) -> Callable[[Any], str]:
    if pt.is_floating(type_):
        return _float
    if pt.is_decimal(type_):
        return lambda value: f'"{value:f}"'
    if pt.is_string(type_) or pt.is_large_string(type_):
        return encode_basestring
    assert pt.is_binary(type_) or pt.is_large_binary(type_) or pt.is_fixed_size_binary(type_), type_
    return lambda value: f'"{base64.b64encode(value).decode()}"'
