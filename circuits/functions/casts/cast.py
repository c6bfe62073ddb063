"""CAST: which pairs of types there are, and what converts them.

Under ANSI what can't be converted is an error, under TRY NULL. LEGACY keeps Hive's rules: integers wrap,
strings may have a fraction, unreadable ones are NULL.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, validity
from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL, from_texts, texts
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.functions.casts import intervals as interval
from dbsp.circuits.functions.casts import numbers as numeric
from dbsp.circuits.functions.casts import texts as text
from dbsp.circuits.functions.casts import times as time
from dbsp.circuits.functions.collections.lists import Lists, list_array, lists_of

Convert = Callable[[Call, pa.Array], pa.Array]

_BLOCK = 1 << 14


def _bytes_as_text(call: Call, source: pa.Array) -> pa.Array:
    """As they are: Spark's strings need not be valid UTF-8."""
    return source.view(pa.string())


def _text_as_bytes(call: Call, source: pa.Array) -> pa.Array:
    return source.view(pa.binary())


def _kind(of: pa.DataType) -> str:
    """The row and column of `_CONVERT`."""
    tests: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
        (pt.is_boolean, "boolean"),
        (pt.is_integer, "integer"),
        (pt.is_floating, "float"),
        (pt.is_decimal128, "decimal"),
        (pt.is_string, "string"),
        (pt.is_binary, "binary"),
        (pt.is_date32, "date"),
        (pt.is_timestamp, "timestamp"),
        (lambda data_type: data_type == MONTHS, "months"),
        (pt.is_duration, "interval"),
        (lambda data_type: data_type == CALENDAR_INTERVAL, "calendar interval"),
    )
    return next((name for test, name in tests if test(of)), str(of))


_CONVERT: dict[tuple[str, str], Convert] = {
    ("boolean", "integer"): numeric.number_to_integer,
    ("boolean", "float"): numeric.number_to_float,
    ("boolean", "decimal"): numeric.boolean_to_decimal,
    ("boolean", "string"): text.plain_to_string,
    ("integer", "boolean"): numeric.to_boolean,
    ("integer", "integer"): numeric.number_to_integer,
    ("integer", "float"): numeric.number_to_float,
    ("integer", "decimal"): numeric.integer_to_decimal,
    ("integer", "string"): text.plain_to_string,
    ("integer", "timestamp"): time.integer_to_timestamp,
    ("float", "boolean"): numeric.to_boolean,
    ("float", "integer"): numeric.float_to_integer,
    ("float", "float"): numeric.number_to_float,
    ("float", "decimal"): numeric.float_to_decimal,
    ("float", "string"): text.float_to_string,
    ("float", "timestamp"): time.float_to_timestamp,
    ("decimal", "boolean"): numeric.to_boolean,
    ("decimal", "integer"): numeric.decimal_to_integer,
    ("decimal", "float"): numeric.decimal_to_float,
    ("decimal", "decimal"): numeric.decimal_to_decimal,
    ("decimal", "string"): text.decimal_to_string,
    ("decimal", "timestamp"): time.decimal_to_timestamp,
    ("string", "boolean"): text.string_to_boolean,
    ("string", "integer"): text.string_to_integer,
    ("string", "float"): text.string_to_float,
    ("string", "decimal"): text.string_to_decimal,
    ("string", "binary"): _text_as_bytes,
    ("string", "date"): time.string_to_date,
    ("string", "timestamp"): time.string_to_timestamp,
    ("binary", "string"): _bytes_as_text,
    ("date", "string"): time.date_to_string,
    ("date", "timestamp"): time.date_to_timestamp,
    ("timestamp", "integer"): time.timestamp_to_integer,
    ("timestamp", "float"): time.timestamp_to_float,
    ("timestamp", "decimal"): time.timestamp_to_decimal,
    ("timestamp", "string"): time.timestamp_to_string,
    ("timestamp", "date"): time.timestamp_to_date,
    ("timestamp", "timestamp"): time.timestamp_to_timestamp,
}
for _interval in ("months", "interval"):
    _CONVERT |= {
        (_interval, _interval): interval.interval_to_interval,
        (_interval, "integer"): interval.interval_to_integer,
        (_interval, "decimal"): interval.interval_to_decimal,
        (_interval, "string"): interval.interval_to_string,
        ("integer", _interval): interval.integer_to_interval,
        ("decimal", _interval): interval.decimal_to_interval,
        ("string", _interval): interval.string_to_interval,
    }
_CONVERT["string", "calendar interval"] = lambda _, source: from_texts(source)


def _refused(source: pa.DataType, target: pa.DataType) -> str | None:
    if source == target or pt.is_null(source):
        return None
    if pt.is_struct(source) and pt.is_struct(target) and source.num_fields == target.num_fields:
        pairs = zip(source, target, strict=True)
        return next((why for a, b in pairs if (why := _refused(a.type, b.type))), None)
    if pt.is_map(source) and pt.is_map(target):
        return _refused(source.key_type, target.key_type) or _refused(source.item_type, target.item_type)
    if pt.is_list(source) and pt.is_list(target):
        return _refused(source.value_type, target.value_type)
    if pt.is_nested(source) and pt.is_string(target):
        inside = (source.field(i).type for i in range(source.num_fields))
        return next((why for data_type in inside if (why := _refused(data_type, target))), None)
    numbers_of_local_time = {_kind(source), _kind(target)} & {"integer", "float", "decimal"}
    if numbers_of_local_time and any(
        pt.is_timestamp(data_type) and data_type.tz is None for data_type in (source, target)
    ):
        return f"a cast from {source} to {target}"
    if (_kind(source), _kind(target)) not in _CONVERT:
        return f"a cast from {source} to {target}"
    return None


@kernel("cast", refuse=lambda call: _refused(call.arguments[0].type, call.type))
def cast(call: Call, value: Value) -> Value:
    if value.type == call.type and not pt.is_duration(call.type):
        return value
    if isinstance(value, pa.Scalar):
        return _convert(call, pa.repeat(value, 1))[0]
    return _convert(call, value)


def _convert(call: Call, source: pa.Array) -> pa.Array:
    if source.type == call.type and not pt.is_duration(call.type):
        return source
    if pt.is_null(source.type):
        return pa.nulls(len(source), call.type)
    if source.type == CALENDAR_INTERVAL:
        return texts(source)
    if pt.is_nested(source.type) and pt.is_string(call.type):
        return _nested_to_string(call, source)
    if pt.is_struct(source.type):
        return _convert_struct(call, source)
    if pt.is_map(source.type):
        return _convert_map(call, source)
    if pt.is_list(source.type):
        return _convert_list(call, source)
    convert = _CONVERT[_kind(source.type), _kind(call.type)]
    if pt.is_string(source.type) and len(source) > _BLOCK:
        return _in_blocks(convert, call, source)
    return convert(call, source)


def _in_blocks(convert: Convert, call: Call, source: pa.Array) -> pa.Array:
    """Parsing makes many passes over a column: block by block they stay in the processor's cache."""
    parts = []
    for start in range(0, len(source), _BLOCK):
        try:
            parts.append(convert(call, source.slice(start, _BLOCK)))
        except EvaluationError as error:
            error.row = None if error.row is None else error.row + start
            raise
    return pa.concat_arrays(parts)


def _part(call: Call, data_type: pa.DataType) -> Call:
    """The same cast, to the type of an element."""
    return Call(call.function, call.arguments, data_type, options=call.options, text=call.text)


def _convert_struct(call: Call, source: pa.Array) -> pa.Array:
    # a field under a NULL struct is no value, whatever stands there
    hidden = pa.array(validity(source)) if source.null_count else None
    fields = []
    for field, target in zip(child_arrays(source), call.type, strict=True):
        shown = field if hidden is None else pc.if_else(hidden, field, pa.scalar(None, field.type))
        fields.append(_convert(_part(call, target.type), shown))
    mask = None if hidden is None else pc.invert(hidden)
    return pa.StructArray.from_arrays(fields, fields=list(call.type), mask=mask)


def _convert_list(call: Call, source: pa.Array) -> pa.Array:
    lists = lists_of(source)
    converted = _convert(_part(call, call.type.value_type), lists.elements)
    return list_array(call.type, Lists(converted, lists.lengths, lists.valid))


def _convert_map(call: Call, source: pa.Array) -> pa.Array:
    """Keys that become equal stay beside each other, as in Spark."""
    lists = lists_of(source)
    keys, items = child_arrays(lists.elements)
    keys = _convert(_part(call, call.type.key_type), keys)
    items = _convert(_part(call, call.type.item_type), items)
    pairs = pa.StructArray.from_arrays([keys, items], names=["key", "value"])
    return list_array(call.type, Lists(pairs, lists.lengths, lists.valid))


def _nested_to_string(call: Call, source: pa.Array) -> pa.Array:
    """[1, null], {1, x} of a struct, {k -> 1} of a map."""
    if pt.is_struct(source.type):
        texts = [_shown(call, child) for child in child_arrays(source)]
        opening, closing = "{", "}"
        inside = pc.binary_join_element_wise(*texts, ", ") if texts else pa.repeat("", len(source))
    else:
        lists = lists_of(source)
        opening, closing = ("{", "}") if pt.is_map(source.type) else ("[", "]")
        elements = lists.elements
        if pt.is_map(source.type):
            key, item = (_shown(call, child) for child in child_arrays(elements))
            shown = pc.binary_join_element_wise(key, item, " -> ")
        else:
            shown = _shown(call, elements)
        offsets = pa.array(np.concatenate(([0], np.cumsum(lists.lengths))).astype(np.int32))
        inside = pc.binary_join(pa.ListArray.from_arrays(offsets, shown), ", ")
    text = pc.binary_join_element_wise(opening, inside, closing, "")
    return (
        text if not source.null_count else pc.if_else(pc.is_valid(source), text, pa.scalar(None, pa.string()))
    )


def _shown(call: Call, array: pa.Array) -> pa.Array:
    return pc.fill_null(_convert(_part(call, pa.string()), array), "null")


@kernel("precise_timestamp_conversion")
def precise_timestamp_conversion(call: Call, value: Value) -> Value:
    """TIMESTAMP as BIGINT microseconds, or back: what window() computes with."""
    if isinstance(value, pa.Scalar):
        return pa.repeat(value, 1).view(call.type)[0]
    return value.view(call.type)
