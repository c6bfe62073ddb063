"""The values of a column that a client copies in.

Texts are read as Spark's CAST reads them, times without an offset in the session's time zone; BINARY as
PostgreSQL writes it, INTERVAL also as its number, ARRAY, MAP and STRUCT as JSON: as COPY TO spells them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.forms.time_of_day import TIME, read
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.nodes import Column as Input
from dbsp.circuits.expressions.vectors.utf8 import bytes_of, from_bytes
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.rows.casting import Refused
from dbsp.rows.json_values import decode, json_value
from dbsp.rows.literals import array_of
from dbsp.serving.postgres.copying.received import Received, Unreadable, plain
from dbsp.serving.postgres.language.wrong import BadCopy
from dbsp.sql.plans.types import type_name

_DIGITS = np.full(256, 255, dtype=np.uint8)
_DIGITS[list(b"0123456789abcdef")] = np.arange(16)
_DIGITS[list(b"ABCDEF")] = np.arange(10, 16)
# what a value raises that isn't one of its type
_WRONG = (EvaluationError, Refused, ValueError)


@dataclass(frozen=True)
class Column:
    """Of a table. zone: of times that have none."""

    table: str
    name: str
    type: pa.DataType
    zone: str

    def of_texts(self, texts: pa.Array, before: int) -> pa.Array:
        """before: how many rows came before. Raises BadCopy."""
        try:
            return self._read(texts)
        except _WRONG:
            at = _first(texts, self._read)
            value = repr(texts[at].as_py())
            raise self._misfit(before + at, value if len(value) <= 80 else f"{value[:77]}...") from None

    def of_binary(self, values: Received, before: int) -> pa.Array:
        """The same of values in the binary format."""
        try:
            found = plain(self.type, values)
            if found is not None:
                return found
            if pt.is_decimal(self.type):
                return self.of_texts(values.digits(self.type.precision, self.type.scale), before)
            texts = pc.cast(values.bytes(), pa.string())
        except Unreadable as error:
            raise self._misfit(before + error.row, error.shown) from None
        except pa.ArrowInvalid as error:
            rows = f"rows {before + 1} to {before + len(values.sizes)}"
            raise BadCopy(f"COPY: a value of {rows} is no UTF-8") from error
        return self.of_texts(texts, before)

    def _read(self, texts: pa.Array) -> pa.Array:
        """Raises what is in _WRONG."""
        if pt.is_string(self.type):
            return texts
        if pt.is_binary(self.type):
            return _from_bytea(texts)
        if pt.is_nested(self.type):
            values = [_from_json(text, self.type) for text in texts.to_pylist()]
            return array_of(values, self.type, self.zone)
        if pt.is_duration(self.type):
            return _intervals(texts, self.type, self.zone)
        if self.type == TIME:
            return read(texts)
        return _cast(texts, self.type, self.zone)

    def _misfit(self, row: int, shown: str) -> BadCopy:
        fits = f"column '{self.name}' ({type_name(self.type)})"
        return BadCopy(f"table '{self.table}', row {row + 1}: {shown} doesn't fit {fits}")


def _first(texts: pa.Array, reads: Callable[[pa.Array], object]) -> int:
    """The position of the first one that can't be read, by bisection."""
    low, high = 0, len(texts)  # texts[:low] can be read, texts[:high] can't
    while high - low > 1:
        middle = (low + high) // 2
        try:
            reads(texts.slice(low, middle - low))
        except _WRONG:
            high = middle
        else:
            low = middle
    return low


def _cast(texts: pa.Array, type_: pa.DataType, zone: str) -> pa.Array:
    options = (("evalMode", "ANSI"), ("timeZoneId", zone))
    cast = Call("cast", (Input(0, texts.type),), type_, options=options)
    return evaluate(cast, pa.RecordBatch.from_arrays([texts], names=["text"]))


def _from_bytea(texts: pa.Array) -> pa.Array:
    r"""\x and two digits a byte; or the bytes themselves, without a backslash."""
    is_hex = pc.starts_with(texts, "\\x")
    hexed = pc.fill_null(is_hex, False)
    plain = pc.if_else(is_hex, "", texts)
    if pc.any(pc.match_substring(plain, "\\"), min_count=0).as_py():
        raise ValueError("bytes are written as \\x and digits")
    digits, ends = bytes_of(pc.if_else(hexed, pc.utf8_slice_codeunits(texts, 2), ""))
    values = _DIGITS[digits]
    if (ends % 2).any() or (values > 15).any():
        raise ValueError("bytes are written as \\x and two digits each")
    read = from_bytes(values[::2] << 4 | values[1::2], ends // 2, texts.view(pa.binary()))
    return pc.if_else(is_hex, read, plain.view(pa.binary()))


def _intervals(texts: pa.Array, type_: pa.DataType, zone: str) -> pa.Array:
    """As CAST reads them, or numbers of months or microseconds: months stay numbers."""
    is_number = pc.match_substring_regex(texts, r"^\s*[+-]?[0-9]+\s*$")
    is_months = type_ == MONTHS
    kind = "interval year to month" if is_months else "interval day to second"
    read = Call("cast", (Input(0, pa.string()),), type_, options=(("evalMode", "ANSI"), ("interval", kind)))
    spelled = pc.if_else(is_number, None, texts)
    counted = pa.int32() if is_months else pa.int64()
    numbers = _cast(pc.if_else(is_number, texts, None), counted, zone)
    found = evaluate(read, pa.RecordBatch.from_arrays([spelled], names=["text"])).view(pa.int64())
    counts = pc.if_else(is_number, numbers, found.cast(counted))
    return counts if is_months else counts.view(type_)


def _from_json(text: str | None, type_: pa.DataType) -> object:
    return None if text is None else decode(json_value(text), type_)
