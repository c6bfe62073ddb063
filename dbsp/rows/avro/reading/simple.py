"""Values of Avro's types without parts, as Arrow has them, and as a column wants them.

    int, long       → any number that holds it           decimal           → any number that holds it
    float, double   → FLOAT, DOUBLE that holds it        date              → DATE
    string, bytes   → STRING (of UTF-8), BINARY          timestamp-*       → TIMESTAMP, TIMESTAMP_NTZ in UTC
    enum, uuid      → STRING         fixed → BINARY      local-timestamp-* → TIMESTAMP_NTZ
                                                         time-*            → TIME

Times are also the number that they are written as. A value is the column's unchanged, or its message is
refused.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import from_fixed_values
from dbsp.circuits.expressions.vectors.numbers import Numbers
from dbsp.rows.avro.reading.decimals import decimals
from dbsp.rows.avro.reading.messages import Messages
from dbsp.rows.avro.schema import Enum, Simple
from dbsp.rows.casting import Refused, cast_array, kind

_MICRO = pa.timestamp("us")
_UNITS = {"millis": 1000, "micros": 1, "nanos": 0}
DAY = 86_400_000_000  # in microseconds
_FLOATS = {"float": (4, "<f4", pa.float32()), "double": (8, "<f8", pa.float64())}
_INTEGERS = {"int": pa.int32(), "long": pa.int64()}
_DASHES = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))


def is_taken(node: Simple | Enum, wanted: pa.DataType) -> bool:
    """Whether some values of the type can be some of the column's."""
    column = kind(wanted)
    if isinstance(node, Enum):
        return column == "string"
    if node.kind == "null":
        return True
    if column in ("integer", "float", "decimal"):
        if node.logical == "decimal":
            return True
        return node.kind in _INTEGERS or (column == "float" and node.kind in _FLOATS)
    if column == "timestamp":
        return node.logical.startswith(("timestamp-", "local-") if wanted.tz is None else "timestamp-")
    if column == "time":
        return node.logical.startswith("time-")
    if column == "date":
        return node.logical == "date"
    if column == "string":
        return node.kind in ("string", "bytes") or node.logical == "uuid"
    return (column == "binary" and node.kind in ("string", "bytes", "fixed")) or column == node.kind


def read_simple(
    messages: Messages, rows: Numbers, node: Simple | Enum, wanted: pa.DataType, where: str
) -> pa.Array:
    """The next value of each, of a type that `is_taken`; NULL where it is refused, of which `where` tells."""
    given = _read(messages, rows, node, wanted)
    if given.type == wanted:
        return given
    if pt.is_binary(given.type) and pt.is_string(wanted):
        return _each_or_none(messages, rows, given, _text, where)
    return _each_or_none(messages, rows, given, lambda part: cast_array(part, wanted), where)


def _read(messages: Messages, rows: Numbers, node: Simple | Enum, wanted: pa.DataType) -> pa.Array:
    if isinstance(node, Enum):
        return _symbols(messages, rows, node)
    if node.kind == "null":
        return pa.nulls(len(rows), wanted)
    if node.kind == "boolean":
        bits = messages.matrix(rows, 1)[:, 0]
        messages.refuse(rows[bits > 1], "a boolean is neither 0 nor 1")
        return pa.array(bits == 1)
    if node.kind in _FLOATS:
        width, dtype, type_ = _FLOATS[node.kind]
        return pa.array(np.ascontiguousarray(messages.matrix(rows, width)).view(dtype)[:, 0], type_)
    if node.kind in _INTEGERS:
        return _integers(messages, rows, node, wanted)
    size = node.size if node.kind == "fixed" else None
    data = messages.slices(rows, size)
    if node.logical == "decimal" and not pt.is_binary(wanted):
        return decimals(messages, rows, data, node.scale)
    return _uuids(data) if node.logical == "uuid" and size is not None and pt.is_string(wanted) else data


def _integers(messages: Messages, rows: Numbers, node: Simple, wanted: pa.DataType) -> pa.Array:
    values = messages.longs(rows)
    if node.kind == "int":
        narrow = values.astype(np.int32)
        messages.refuse(rows[narrow != values], "an int has more than 32 bits")
        if pt.is_date(wanted):
            return from_fixed_values(narrow, pa.date32())
        values = narrow
    if pt.is_time(wanted):
        micros = values.astype(np.int64) * _UNITS[node.logical.rpartition("-")[2]]
        messages.refuse(rows[(values < 0) | (values > DAY) | (micros >= DAY)], "a time is none of a day")
        return from_fixed_values(micros % DAY * 1000, wanted)
    if not pt.is_timestamp(wanted):
        return pa.array(values, _INTEGERS[node.kind])
    factor = _UNITS[node.logical.rpartition("-")[2]]
    if factor:
        micros = values * factor
        messages.refuse(rows[micros // factor != values], "a time is beyond those of a TIMESTAMP")
    else:
        micros = values // 1000
        messages.refuse(rows[micros * 1000 != values], "a time is finer than a microsecond")
    return from_fixed_values(micros, wanted)


def _symbols(messages: Messages, rows: Numbers, node: Enum) -> pa.Array:
    positions = messages.longs(rows)
    bad = (positions < 0) | (positions >= len(node.symbols))
    messages.refuse(rows[bad], "an enum has no such symbol")
    return pa.array(node.symbols, pa.string()).take(pa.array(np.where(bad, 0, positions), mask=bad))


def _uuids(data: pa.Array) -> pa.Array:
    """Sixteen bytes as text. None where refused."""
    there = np.asarray(pc.equal(pc.binary_length(data), 16))
    raw = np.frombuffer(b"".join(data.filter(pa.array(there)).to_pylist()), np.uint8).reshape(-1, 16)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    text = digits[np.stack([raw >> 4, raw & 15], axis=2).reshape(-1, 32)]
    dash = np.full((len(text), 1), ord("-"), np.uint8)
    parts = [part for start, end in _DASHES for part in (text[:, start:end], dash)][:-1]
    joined = np.ascontiguousarray(np.concatenate(parts, axis=1))
    offsets = np.arange(len(joined) + 1, dtype=np.int32) * 36
    texts = pa.Array.from_buffers(pa.string(), len(joined), [None, *map(pa.py_buffer, (offsets, joined))])
    return texts.take(pa.array(np.cumsum(there) - 1, mask=~there))


def _text(data: pa.Array) -> pa.Array:
    text = data.view(pa.string())
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        raise Refused("a text is not UTF-8") from None
    return text


def _each_or_none(
    messages: Messages, rows: Numbers, values: pa.Array, as_wanted: Callable[[pa.Array], pa.Array], where: str
) -> pa.Array:
    """Halved until what is refused is alone."""
    try:
        return as_wanted(values)
    except Refused as refused:
        if len(values) == 1:
            messages.refuse(rows, f"{where}: {refused}")
            return pa.nulls(1, as_wanted(values.slice(0, 0)).type)
        half = len(values) // 2
        parts = ((rows[:half], values[:half]), (rows[half:], values[half:]))
        return pa.concat_arrays(
            [_each_or_none(messages, each, part, as_wanted, where) for each, part in parts]
        )
