"""The rows that a client copies into a table, from the bytes that it sends piece by piece.

Values are read as Spark's CAST reads texts, times without an offset in the session's time zone; BINARY as
PostgreSQL writes it, INTERVAL as its number, ARRAY, MAP and STRUCT as JSON: as COPY TO spells them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.months import MONTHS
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.expressions.vectors.utf8 import bytes_of, from_bytes
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.rows.casting import Refused
from dbsp.rows.incoming import BadRow
from dbsp.rows.json_values import decode
from dbsp.rows.literals import array_of
from dbsp.serving.postgres.copying.fields import BadCopy, fields_of
from dbsp.serving.postgres.copying.statement import Copy
from dbsp.serving.postgres.language.wrong import Wrong
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.types import ddl

_DIGITS = np.full(256, 255, dtype=np.uint8)
_DIGITS[list(b"0123456789abcdef")] = np.arange(16)
_DIGITS[list(b"ABCDEF")] = np.arange(10, 16)
# bytes that are read at once, and of all that one COPY may send
_AT_ONCE, LARGEST = 8 << 20, 256 << 20


@dataclass
class CopiedRows:
    """names: of the columns that come. zone: of times."""

    copy: Copy
    table: Table
    names: list[str]
    zone: str
    _bytes: bytearray = field(default_factory=bytearray)
    _read: int = 0
    _rest: int = 0
    _parts: list[pa.Table] = field(default_factory=list)
    _rows: int = 0
    _is_over: bool = False

    @property
    def is_much(self) -> bool:
        """Whether what has come is to be read before more comes.

        What a read left is read again only beside as much that is new: n bytes cost O(n), also where a
        stray quote makes one value of all of them.
        """
        return len(self._bytes) >= max(_AT_ONCE, 2 * self._rest)

    def add(self, piece: bytes) -> None:
        """Raises BadCopy."""
        self._bytes += piece
        if self._read + len(self._bytes) > LARGEST:
            raise BadCopy(f"COPY: one step takes at most {LARGEST >> 20} MB; send the rows in several")

    def read(self, is_last: bool = False) -> None:
        """The whole rows of what has come. Raises BadCopy."""
        data = bytes(self._bytes)
        if self._is_over:
            texts, used = [pa.array([], pa.string()) for _ in self.names], len(data)
        else:
            texts, used, self._is_over = fields_of(data, self.copy, self.names, self._rows, is_last)
        del self._bytes[:used]
        self._read += used
        self._rest = len(self._bytes)
        head = int(self.copy.header and not self._rows and len(texts[0]) > 0)
        if head and self.copy.matches:
            self._check([column[0].as_py() for column in texts])
        types = {one.name: one.type for one in self.table.schema}
        columns = [
            self._values(name, types[name], column.slice(head), self._rows + head)
            for name, column in zip(self.names, texts, strict=True)
        ]
        self._rows += len(texts[0])
        self._parts.append(pa.Table.from_arrays(columns, names=self.names))

    @property
    def rows(self) -> pa.Table:
        """All of them, with NULL in the columns that don't come."""
        rows = pa.concat_tables(self._parts)
        for one in self.table.schema:
            if one.name not in self.names:
                rows = rows.append_column(one.name, pa.nulls(len(rows)))
        return rows

    def wrong(self, error: BadRow) -> Wrong:
        """The same of a row as it was sent, from 1."""
        at = None if error.row is None else error.row + 1 + self.copy.header
        return Wrong(
            "22000" if error.column is None else "23502", str(BadRow(error.table, error.problem, at))
        )

    def _check(self, names: list[str | None]) -> None:
        if [str(name).lower() for name in names] != [name.lower() for name in self.names]:
            given = ", ".join(map(str, names))
            raise BadCopy(f"COPY: the header has {given}; the columns are {', '.join(self.names)}")

    def _values(self, name: str, type_: pa.DataType, texts: pa.Array, before: int) -> pa.Array:
        try:
            if pt.is_string(type_):
                return texts
            if pt.is_binary(type_):
                return _from_bytea(texts)
            if pt.is_nested(type_):
                return array_of([_from_json(text, type_) for text in texts.to_pylist()], type_, self.zone)
            if type_ == MONTHS:
                return _cast(texts, pa.int32(), self.zone)
            if pt.is_duration(type_):  # a number of microseconds
                return _cast(texts, pa.int64(), self.zone).view(type_)
            return _cast(texts, type_, self.zone)
        except (EvaluationError, Refused, ValueError) as error:
            at = _first(texts, lambda some: self._values(name, type_, some, before)) if len(texts) > 1 else 0
            value = repr(texts[at].as_py())
            shown = value if len(value) <= 80 else f"{value[:77]}..."
            if isinstance(error, BadCopy):
                raise
            fits = f"column '{name}' ({ddl(type_).upper()})"
            raise BadCopy(
                f"table '{self.table.name}', row {before + at + 1}: {shown} doesn't fit {fits}"
            ) from None


def _first(texts: pa.Array, reads: Callable[[pa.Array], object]) -> int:
    """The position of the first one that can't be read, by bisection."""
    low, high = 0, len(texts)  # texts[:low] can be read, texts[:high] can't
    while high - low > 1:
        middle = (low + high) // 2
        try:
            reads(texts.slice(low, middle - low))
        except BadCopy:
            high = middle
        else:
            low = middle
    return low


def _cast(texts: pa.Array, type_: pa.DataType, zone: str) -> pa.Array:
    options = (("evalMode", "ANSI"), ("timeZoneId", zone))
    cast = Call("cast", (Column(0, texts.type),), type_, options=options)
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


def _from_json(text: str | None, type_: pa.DataType) -> object:
    return None if text is None else decode(json.loads(text, parse_float=Decimal), type_)
