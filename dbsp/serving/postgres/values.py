"""Arrow columns as PostgreSQL's values, and rows of them, without a loop over rows.

A type that PostgreSQL has none for (ARRAY, MAP, STRUCT) is json; an INTERVAL is a text that CAST reads back.
"""

from __future__ import annotations

import struct
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.forms import time_of_day
from dbsp.circuits.columns.forms.json_text import fields_of
from dbsp.circuits.functions.times.time_zones import time_zone
from dbsp.serving.postgres.copying.statement import Copy
from dbsp.serving.postgres.language.literals import intervals
from dbsp.serving.postgres.language.types import (
    BOOL,
    BYTEA,
    DATE,
    DAYS,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    JSON,
    MICROSECONDS,
    NUMERIC,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    oid_of,
)
from dbsp.serving.postgres.wire import message
from dbsp.targets.databases.texts import as_hex

_NUMBERS = {INT2: ">i2", INT4: ">i4", INT8: ">i8", FLOAT4: ">f4", FLOAT8: ">f8"}
# whose texts are Arrow's
_PLAIN = (pt.is_integer, pt.is_decimal, pt.is_date32, pt.is_string, pt.is_large_string)
# that no number has
_PLAIN_MARKS = b",;|\t"
_NOTHING = pa.scalar(b"", pa.large_binary())
# rows of which each value is spelled by itself
_FEW = 4
_PACKED = {oid: struct.Struct(f"!{code}") for oid, code in ((INT2, "h"), (INT4, "i"), (INT8, "q"))}
_COUNT = struct.Struct("!h").pack


def data_rows(rows: pa.RecordBatch, formats: list[int], zone: str = "UTC") -> bytes:
    """A message a row. formats: of each column, 0 text, 1 binary. zone: the session's, of times in text."""
    if rows.num_rows > _FEW:
        return _framed(_fields(rows, formats, zone), b"D")
    columns = [_few(column, form, zone) for column, form in zip(rows.columns, formats, strict=True)]
    return b"".join(message(b"D", _COUNT(len(row)), *map(_sized, row)) for row in zip(*columns, strict=True))


def _sized(value: bytes | None) -> bytes:
    """After its length."""
    return b"\xff\xff\xff\xff" if value is None else len(value).to_bytes(4, "big") + value


def _few(column: pa.Array, form: int, zone: str) -> list[bytes | None]:
    """The values of a column of few rows, of which a call of Arrow each would take longer."""
    type_ = column.type
    if pt.is_string(type_):
        return column.cast(pa.binary()).to_pylist()  # type: ignore[no-any-return]
    if pt.is_integer(type_):
        values = column.to_pylist()
        if not form:
            return [None if value is None else b"%d" % value for value in values]
        pack = _PACKED[oid_of(type_)].pack
        return [None if value is None else pack(value) for value in values]
    if pt.is_decimal(type_) and form:
        return [_numeric(value) for value in column.to_pylist()]
    return (_binary(column) if form else _text(column, zone).cast(pa.large_binary())).to_pylist()  # type: ignore[no-any-return]


def copied(rows: pa.RecordBatch, copy: Copy, zone: str = "UTC") -> bytes:
    """A message a row, of COPY in its format. zone: as in `data_rows`."""
    if copy.form == "binary":
        return _framed(_fields(rows, [1] * rows.num_columns, zone), b"d")
    spell = _csv_field if copy.form == "csv" else _text_field
    columns = [spell(column, copy, zone) for column in rows.columns]
    line = pc.binary_join_element_wise(*columns, pa.scalar(copy.delimiter, pa.large_binary()))
    end = pa.scalar(b"\n", pa.large_binary())
    return _framed(pc.binary_join_element_wise(line, end, _NOTHING), b"d")


def _text_field(column: pa.Array, copy: Copy, zone: str) -> pa.Array:
    """After a backslash what would end it, and a backslash."""
    spelled = _text(column, zone).cast(pa.large_binary())
    for plain, escaped in ((b"\\", b"\\\\"), (b"\n", b"\\n"), (b"\r", b"\\r"), (b"\t", b"\\t")):
        spelled = pc.replace_substring(spelled, plain, escaped)
    if copy.delimiter != b"\t":
        spelled = pc.replace_substring(spelled, copy.delimiter, b"\\" + copy.delimiter)
    return pc.fill_null(spelled, pa.scalar(copy.null, pa.large_binary()))


def _csv_field(column: pa.Array, copy: Copy, zone: str) -> pa.Array:
    """NULL as it is said, and in quotes what isn't a number, or could be read as something else."""
    spelled, type_ = _text(column, zone).cast(pa.large_binary()), column.type
    is_number = pt.is_integer(type_) or pt.is_floating(type_) or pt.is_decimal(type_)
    if not (is_number and copy.delimiter in _PLAIN_MARKS and copy.null == b""):
        quote = pa.scalar(copy.quote, pa.large_binary())
        doubled = pc.replace_substring(spelled, copy.quote, copy.quote * 2)
        spelled = pc.binary_join_element_wise(quote, doubled, quote, _NOTHING)
    return pc.fill_null(spelled, pa.scalar(copy.null, pa.large_binary()))


def _fields(rows: pa.RecordBatch, formats: list[int], zone: str) -> pa.Array:
    """Per row: how many fields, and each with its length before it."""
    count = pa.scalar(rows.num_columns.to_bytes(2, "big"), pa.large_binary())
    parts: list[object] = [pa.repeat(count, rows.num_rows)]
    for column, form in zip(rows.columns, formats, strict=True):
        value = _binary(column) if form else _text(column, zone).cast(pa.large_binary())
        lengths = pc.binary_length(value)
        if value.null_count:
            lengths, value = pc.fill_null(lengths, -1), pc.fill_null(value, _NOTHING)
        parts += [_fixed(lengths.to_numpy(False).astype(">i4")), value]
    return pc.binary_join_element_wise(*parts, _NOTHING)


def _framed(bodies: pa.Array, kind: bytes) -> bytes:
    """Messages of one kind, one after the other."""
    sizes = _fixed((pc.binary_length(bodies).to_numpy(False) + 4).astype(">i4"))
    framed = pc.binary_join_element_wise(pa.scalar(kind, pa.large_binary()), sizes, bodies, _NOTHING)
    if not len(framed):
        return b""
    _, ends, data = framed.buffers()
    offsets = np.frombuffer(ends, np.int64)[framed.offset : framed.offset + len(framed) + 1]
    return bytes(memoryview(data)[offsets[0] : offsets[-1]])


def _fixed(values: np.ndarray, is_null: np.ndarray | None = None) -> pa.Array:
    """The bytes of each value. large_binary[n]"""
    size = values.dtype.itemsize
    offsets = np.arange(len(values) + 1, dtype=np.int64) * size
    valid = None if is_null is None else pa.py_buffer(np.packbits(~is_null, bitorder="little"))
    buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(values.tobytes())]
    return pa.Array.from_buffers(pa.large_binary(), len(values), buffers)


def _text(column: pa.Array, zone: str = "UTC") -> pa.Array:
    """In PostgreSQL's text format. large_string[n]"""
    type_ = column.type
    large = pa.large_string()
    if pt.is_boolean(type_):
        return pc.if_else(column, pa.scalar("t", large), pa.scalar("f", large))
    if pt.is_decimal(type_) and type_.scale > 6:  # Arrow writes 0E-7
        return pa.array([None if value is None else f"{value:f}" for value in column.to_pylist()], large)
    if any(is_of(type_) for is_of in _PLAIN):
        return column.cast(large)
    if pt.is_floating(type_):
        spelled = column.cast(large)
        for said, meant in (("inf", "Infinity"), ("-inf", "-Infinity"), ("nan", "NaN"), ("-nan", "NaN")):
            spelled = pc.if_else(pc.equal(spelled, said), pa.scalar(meant, large), spelled)
        return spelled
    if pt.is_binary(type_):
        return as_hex(column, "\\x")
    if pt.is_time(type_):
        return time_of_day.spelled(column).cast(large)
    if pt.is_duration(type_):
        return intervals.texts(column)
    if pt.is_timestamp(type_):
        return _clock(column) if type_.tz is None else _moments(column, zone)
    return pa.array(fields_of(column), large, mask=column.is_null().to_numpy(False))


def _clock(column: pa.Array) -> pa.Array:
    """What the clocks show, without zeros at the end of a fraction. large_string[n]"""
    spelled = column.cast(pa.timestamp("us")).cast(pa.large_string())
    return pc.utf8_rtrim(pc.utf8_rtrim(spelled, "0"), ".")


def _moments(column: pa.Array, zone: str) -> pa.Array:
    """What the zone's clocks show, and how far they are from UTC. large_string[n]"""
    given = pc.fill_null(column.cast(pa.int64()), 0).to_numpy(False)
    local = time_zone(zone).to_local(given)
    shown = _clock(pa.array(local).view(pa.timestamp("us")))
    offsets, which = np.unique((local - given) // 1_000_000, return_inverse=True)
    names = pa.array([_offset(seconds) for seconds in offsets.tolist()], pa.large_string())
    whole = pc.binary_join_element_wise(shown, names.take(pa.array(which)), pa.scalar("", pa.large_string()))
    return pc.if_else(column.is_valid(), whole, pa.scalar(None, pa.large_string()))


def _offset(seconds: int) -> str:
    """+01, +05:30, -00:44:30"""
    minutes, second = divmod(abs(seconds), 60)
    hour, minute = divmod(minutes, 60)
    parts = [
        f"{hour:02}",
        *([f"{minute:02}"] if minute or second else []),
        *([f"{second:02}"] if second else []),
    ]
    return ("-" if seconds < 0 else "+") + ":".join(parts)


def _binary(column: pa.Array) -> pa.Array:
    """In PostgreSQL's binary format. large_binary[n]"""
    type_ = column.type
    oid = oid_of(type_)
    if oid in (TEXT, JSON):
        return _text(column).cast(pa.large_binary())
    if oid == BYTEA:
        return column.cast(pa.large_binary())
    if oid == NUMERIC:
        return pa.array([_numeric(value) for value in column.to_pylist()], pa.large_binary())
    is_null = column.is_null().to_numpy(False)
    if oid == BOOL:
        return _fixed(pc.fill_null(column, False).to_numpy(False).astype(np.uint8), is_null)
    if oid == DATE:
        days = pc.fill_null(column.cast(pa.int32()), 0).to_numpy(False)
        return _fixed((days - DAYS).astype(">i4"), is_null)
    if oid == TIME:
        micros = pc.fill_null(column.cast(pa.int64()), 0).to_numpy(False) // 1000
        return _fixed(micros.astype(">i8"), is_null)
    if oid in (TIMESTAMP, TIMESTAMPTZ):
        moments = pc.fill_null(column.cast(pa.int64()), 0).to_numpy(False)
        return _fixed((moments - MICROSECONDS).astype(">i8"), is_null)
    return _fixed(pc.fill_null(column, 0).to_numpy(False).astype(_NUMBERS[oid]), is_null)


def _numeric(value: Decimal | int | None) -> bytes | None:
    """Digits to the base 10,000, the first one's place, the sign, and the decimal places."""
    if value is None:
        return None
    sign, digits, exponent = Decimal(value).as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    whole = int("".join(map(str, digits))) * 10 ** max(0, exponent) * 10 ** (-scale % 4)
    groups: list[int] = []
    while whole:
        whole, group = divmod(whole, 10_000)
        groups.append(group)
    place = len(groups) - 1 - (scale + 3) // 4
    groups.reverse()
    while groups and groups[-1] == 0:
        groups.pop()
    head = struct.pack("!4h", len(groups), place if groups else 0, 0x4000 if sign else 0, scale)
    return head + struct.pack(f"!{len(groups)}h", *groups)
