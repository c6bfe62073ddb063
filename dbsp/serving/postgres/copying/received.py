"""Values in PostgreSQL's binary format as Arrow columns, without a loop over them.

Numbers and moments are their bytes, the highest first; of a NUMERIC come groups of four decimal digits:

    digits: int16   weight: int16   sign: uint16   scale: uint16   digit_i: int16 · 10000^(weight - i)

Source: PostgreSQL 17 documentation, COPY; src/backend/utils/adt/numeric.c, numeric_send.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.serving.postgres.copying.tuples import Tuples
from dbsp.serving.postgres.language.types import (
    BOOL,
    BYTEA,
    DATE,
    DAY,
    DAYS,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    MICROSECONDS,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    oid_of,
)

_LAYOUTS = {
    BOOL: "u1",
    INT2: ">i2",
    INT4: ">i4",
    INT8: ">i8",
    FLOAT4: ">f4",
    FLOAT8: ">f8",
    DATE: ">i4",
    TIME: ">i8",
    TIMESTAMP: ">i8",
    TIMESTAMPTZ: ">i8",
}
# from PostgreSQL's 2000 to 1970
_SINCE = {DATE: DAYS, TIMESTAMP: MICROSECONDS, TIMESTAMPTZ: MICROSECONDS}
_DIGITS = np.array([1000, 100, 10, 1], np.uint16)


class Unreadable(ValueError):
    """row: of a value that isn't one of its type. shown: what it is."""

    def __init__(self, row: int, shown: str) -> None:
        super().__init__(shown)
        self.row, self.shown = row, shown


@dataclass(frozen=True)
class Received:
    """Values of a column. data: uint8[n]. begins, sizes: int64[m], a size of -1 is NULL."""

    data: np.ndarray
    begins: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, tuples: Tuples, column: int) -> Received:
        return cls(tuples.data, tuples.begins[column], tuples.sizes[column])

    @property
    def is_null(self) -> np.ndarray:
        found: np.ndarray = self.sizes < 0
        return found

    def bytes(self) -> pa.Array:
        """large_binary[m], of the bytes where they are."""
        ends = self.begins + np.maximum(self.sizes, 0)
        # between two values stands what is none
        bounds = np.column_stack((self.begins, ends)).ravel()
        offsets = np.append(bounds, ends[-1] if len(ends) else 0)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.data)]
        between = pa.Array.from_buffers(pa.large_binary(), len(bounds), buffers)
        places = pa.array(np.arange(0, len(bounds), 2), mask=self.is_null)
        return between.take(places)

    def fixed(self, layout: str) -> np.ndarray:
        """Of as many bytes each, 0 for NULL. Raises Unreadable."""
        width = np.dtype(layout).itemsize
        self.check((self.sizes == width) | self.is_null)
        return self._parts(self.begins, width, ~self.is_null).view(layout)[:, 0]

    def check(self, fits: np.ndarray) -> None:
        """Raises Unreadable of the first that doesn't."""
        wrong = np.flatnonzero(~fits)
        if len(wrong):
            row = int(wrong[0])
            value = self.data[self.begins[row] : self.begins[row] + min(int(self.sizes[row]), 16)].tobytes()
            more = "..." if self.sizes[row] > 16 else ""
            raise Unreadable(row, f"{self.sizes[row]} bytes 0x{value.hex()}{more}")

    def digits(self, precision: int, scale: int) -> pa.Array:
        """Decimal numbers, with more digits than `scale` after the point, for rounding. string[m]

        Raises Unreadable, also for what has more digits before the point than there may be.
        """
        valid = ~self.is_null
        self.check((self.sizes >= 8) | ~valid)
        head = self._parts(self.begins, 8, valid).view(">i2").astype(np.int64)
        count, weight, sign = head[:, 0], head[:, 1], head[:, 2] & 0xFFFF
        before, after = max(1, -(-(precision - scale) // 4)), -(-scale // 4) + 1
        # what is no number, or infinite, has another sign
        fits = (self.sizes == 8 + 2 * count) & (count >= 0) & np.isin(sign, (0, 0x4000))
        self.check((fits & ((weight < before) | (count == 0))) | ~valid)
        places = weight[:, None] - np.arange(before - 1, -after - 1, -1)
        there = (places >= 0) & (places < count[:, None])
        at = np.where(there, self.begins[:, None] + 8 + 2 * places, 0)
        pairs = self.data[np.minimum(at[:, :, None] + np.arange(2), len(self.data) - 1)]
        groups = np.where(there, pairs.view(">u2")[:, :, 0], 0).astype(np.uint16)
        self.check(np.all(groups < 10_000, axis=1))
        spelled = groups[:, :, None] // _DIGITS % 10 + ord("0")
        spelled = spelled.astype(np.uint8).reshape(len(weight), 4 * (before + after))
        signs = np.where(sign == 0x4000, ord("-"), ord("+")).astype(np.uint8)[:, None]
        point = np.full_like(signs, ord("."))
        texts = np.concatenate((signs, spelled[:, : 4 * before], point, spelled[:, 4 * before :]), axis=1)
        offsets = np.arange(len(texts) + 1, dtype=np.int32) * texts.shape[1]
        buffers = [np.packbits(valid, bitorder="little"), offsets, np.ascontiguousarray(texts)]
        return pa.Array.from_buffers(pa.string(), len(texts), [*map(pa.py_buffer, buffers)])

    def _parts(self, at: np.ndarray, width: int, valid: np.ndarray) -> np.ndarray:
        """So many bytes from each place on, or zeros. uint8[m, width]"""
        places = np.where(valid, at, 0)[:, None] + np.arange(width)
        found: np.ndarray = self.data[np.minimum(places, len(self.data) - 1)] * valid[:, None]
        return found


def plain(type_: pa.DataType, values: Received) -> pa.Array | None:
    """A column whose values are their bytes; None: they are texts, or groups of digits. Raises Unreadable."""
    oid = oid_of(type_)
    if oid == BYTEA:
        return values.bytes().cast(pa.binary())
    layout = _LAYOUTS.get(oid)
    if layout is None:
        return None
    found, is_null = values.fixed(layout), values.is_null
    if oid == BOOL:
        return pa.array(found != 0, mask=is_null)
    if pt.is_floating(type_):
        return pa.array(found.astype(layout[1:]), type_, mask=is_null)
    whole = found.astype(np.int64)
    if oid == TIME:  # PostgreSQL has 24:00, too
        values.check((whole >= 0) & (whole < DAY))
        return pa.array(whole * 1000, mask=is_null).view(type_)
    if oid in _SINCE:
        moments = whole + _SINCE[oid]
        # infinity is the greatest number, and what is before all the least
        ends = np.iinfo(layout)
        values.check(((found != ends.min) & (found != ends.max) & (moments >= whole)) | is_null)
        values.check((moments <= ends.max) | is_null)
        return pa.array(moments.astype(layout[1:]), mask=is_null).view(type_)
    bounds = np.iinfo(type_.to_pandas_dtype())
    values.check(((whole >= bounds.min) & (whole <= bounds.max)) | is_null)
    return pa.array(whole.astype(type_.to_pandas_dtype()), type_, mask=is_null)
