"""Messages that are JSON objects, decoded by columns: as Spark's from_json would, or not at all.

Arrow's reader makes columns of all messages of a batch at once. It is stricter than Jackson, and in a few
places looser. So each batch is looked at first, and what isn't vouched for is left to Spark, which has the
last word on what is a row and what is none:

    decode(m)[i] = from_json(m[i])    for every i, or decode(m) is None

One message is one object: each begins with `{` and ends with `}`, a line break stands between two, and JSON
has none within its texts; and `}` is followed by `{` only where an object has ended. So each message has an
object at least, and as many rows as messages are one each. (A null in place of the first object would end the
process; in place of another it is a row.)

What Spark may see otherwise, and so is None: a text for a number and the reverse, -0 and what isn't finite as
DOUBLE, times that aren't written as ISO 8601 has them, times without a zone in a session that isn't in UTC,
bytes that are no UTF-8, what is too deep or too long for Jackson, a field that is there twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.types as pt

from dbsp.sql.plans.schemas import Field

# bytes of a batch, which is one block to Arrow's reader
MOST_BYTES = 1 << 24
# Jackson's bounds are 1,000 levels, 1,000 digits and 50,000 characters of a name: a shorter message has none
_SHORT, _LONG = 1_000, 50_000
# bytes that are looked at at once
_PART = 1 << 16
_DIGITS = re.compile(rb"[0-9.eE+-]{1000}")
# Jackson spells some numbers that aren't finite otherwise; in fields that nobody reads they would pass.
_NOT_FINITE = re.compile(rb"[:\[,]\s*-?Inf|-NaN")
_BEFORE_NUMBER = np.zeros(256, dtype=bool)
_BEFORE_NUMBER[list(b":[,- \t\r\n")] = True
_DAY = r"^[1-9]\d{3}-\d\d-\d\d"
_MOMENT = _DAY + r"[T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?"
_ZONED = _MOMENT + r"(Z|[+-](0\d|1[0-7]):[0-5]\d)$"
_TIMESTAMP, _LOCAL = pa.timestamp("us", tz="UTC"), pa.timestamp("us")


class _Unvouched(Exception):
    """Spark is to be asked."""


def can_decode(type_: pa.DataType) -> bool:
    """Whether there is anything of a type that is vouched for."""
    if pt.is_struct(type_):
        return type_.num_fields > 0 and all(can_decode(field.type) for field in type_)
    if pt.is_list(type_):
        return can_decode(type_.value_type)
    atoms = pt.is_signed_integer, pt.is_float64, pt.is_string, pt.is_boolean, pt.is_decimal128, pt.is_date32
    return type_ in (_TIMESTAMP, _LOCAL) or any(one(type_) for one in atoms)


@dataclass(frozen=True)
class JsonColumns:
    """fields: `can_decode` each. timezone: of times that have none."""

    fields: tuple[Field, ...]
    timezone: str

    def decode(self, messages: pa.LargeBinaryArray) -> pa.RecordBatch | None:
        """Of each message its row, or of all of them nothing. messages: none is NULL."""
        if not len(messages):
            return pa.RecordBatch.from_arrays([pa.nulls(0, f.type) for f in self.fields], self._names)
        try:
            text = _joined(messages)
            table = pyarrow.json.read_json(
                pa.BufferReader(text),
                pyarrow.json.ReadOptions(use_threads=False, block_size=text.size + 1),
                pyarrow.json.ParseOptions(self._read, unexpected_field_behavior="ignore"),
            )
            if table.num_rows != len(messages):
                return None
            columns = [
                self._finished(_whole(table.column(i)), field.type) for i, field in enumerate(self.fields)
            ]
        except (_Unvouched, pa.ArrowInvalid):
            return None
        return pa.RecordBatch.from_arrays(columns, self._names)

    @cached_property
    def _names(self) -> list[str]:
        return [field.name for field in self.fields]

    @cached_property
    def _read(self) -> pa.Schema:
        return pa.schema([(field.name, _read_type(field.type)) for field in self.fields])

    def _finished(self, values: pa.Array, type_: pa.DataType) -> pa.Array:
        """The values as they are read, as the column's. Raises _Unvouched, ArrowInvalid."""
        if pt.is_struct(type_):
            children = [
                self._finished(values.field(i), field.type).cast(field.type) for i, field in enumerate(type_)
            ]
            return pa.StructArray.from_arrays(children, fields=list(type_), mask=values.is_null())
        if pt.is_list(type_):
            within = self._finished(values.values, type_.value_type)
            return pa.ListArray.from_arrays(values.offsets, within, type_, mask=values.is_null())
        if pt.is_float64(type_):
            numbers = np.asarray(values.fill_null(1.0))
            if not np.isfinite(numbers).all() or (np.signbit(numbers) & (numbers == 0)).any():
                raise _Unvouched
        elif pt.is_temporal(type_):
            return self._moments(values, type_)
        return values

    def _moments(self, texts: pa.Array, type_: pa.DataType) -> pa.Array:
        if pt.is_date(type_):
            return _matching(texts, _DAY + "$").cast(type_)
        if type_ == _LOCAL:
            return _matching(texts, _MOMENT + "$").cast(_LOCAL)
        if self.timezone == "UTC" and _all_match(texts, _MOMENT + "$"):
            return texts.cast(_LOCAL).cast(_TIMESTAMP)
        return _matching(texts, _ZONED).cast(_TIMESTAMP)


def _joined(messages: pa.LargeBinaryArray) -> pa.Buffer:
    """The messages, a line break between two. Raises _Unvouched, ArrowInvalid."""
    _, edges, held = messages.buffers()
    offsets = np.frombuffer(edges, np.int64)[messages.offset : messages.offset + len(messages) + 1]
    lengths = np.diff(offsets)
    longest = int(lengths.max())
    if not lengths.all() or longest > _LONG or int(offsets[-1] - offsets[0]) + len(messages) > MOST_BYTES:
        raise _Unvouched
    there = np.frombuffer(held, np.uint8)
    if (there[offsets[:-1]] != ord("{")).any() or (there[offsets[1:] - 1] != ord("}")).any():
        raise _Unvouched
    if longest > _SHORT and _is_deep(messages.filter(pa.array(lengths > _SHORT))):
        raise _Unvouched
    listed = pa.ListArray.from_arrays(pa.array([0, len(messages)], pa.int32()), messages.cast(pa.binary()))
    text = pc.binary_join(listed, b"\n")
    text.cast(pa.string())  # which it may not be
    joined: pa.Buffer = text[0].as_buffer()
    if _may_be_infinite(np.frombuffer(joined, np.uint8)) and _NOT_FINITE.search(joined):
        raise _Unvouched
    if longest > _SHORT and _DIGITS.search(joined):
        raise _Unvouched
    return joined


def _may_be_infinite(text: np.ndarray) -> bool:
    """Whether a number may be: an I stands where one begins, or an N behind a sign. Mostly none does."""
    for at in range(1, len(text), _PART):  # what is compared stays in the processor's caches
        part, before = text[at : at + _PART], text[at - 1 : at - 1 + _PART]
        first, signed = np.flatnonzero(part == ord("I")), np.flatnonzero(part == ord("N"))
        if _BEFORE_NUMBER[before[first]].any() or (before[signed] == ord("-")).any():
            return True
    return False


def _is_deep(messages: pa.LargeBinaryArray) -> bool:
    """Whether one of them may be deeper than Jackson goes."""
    levels = pc.add(pc.count_substring(messages, "{"), pc.count_substring(messages, "["))
    return bool(pc.max(levels).as_py() >= _SHORT)


def _read_type(type_: pa.DataType) -> pa.DataType:
    """What Arrow's reader is asked for: of times their text."""
    if pt.is_struct(type_):
        return pa.struct([(field.name, _read_type(field.type)) for field in type_])
    if pt.is_list(type_):
        return pa.list_(_read_type(type_.value_type))
    return pa.string() if pt.is_temporal(type_) else type_


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _all_match(texts: pa.Array, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(texts, pattern)).as_py() is not False


def _matching(texts: pa.Array, pattern: str) -> pa.Array:
    if not _all_match(texts, pattern):
        raise _Unvouched
    return texts
