"""The buffers of a string column, addressed by characters.

A column is one run of bytes and n + 1 offsets. A character begins at every byte that isn't 10xxxxxx, so the
characters before a byte are a cumulative sum, and any slice of every row is one gather:

    slice(row, a, b) = bytes[begin(first(row) + a) : begin(first(row) + b)]

BINARY columns are the same with every byte a character.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.expressions.vectors.numbers import Numbers


@dataclass(frozen=True, slots=True)
class Text:
    """bytes: uint8[m]; offsets: int64[n + 1] into them; begins: the byte where each character begins, and m.

    first: int64[n + 1], the number of the first character of each row.
    """

    bytes: Numbers
    offsets: Numbers
    begins: Numbers
    first: Numbers

    @property
    def lengths(self) -> Numbers:
        """Characters per row."""
        return np.diff(self.first)


def bytes_of(array: pa.Array) -> tuple[Numbers, Numbers]:
    """The bytes and offsets of a STRING or BINARY array; NULL rows may hold anything."""
    _, offsets, data = array.buffers()
    if offsets is None or len(array) == 0:
        return np.zeros(0, np.uint8), np.zeros(len(array) + 1, np.int64)
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    positions = np.frombuffer(offsets, np.int64 if wide else np.int32)
    positions = positions[array.offset : array.offset + len(array) + 1].astype(np.int64)
    everything = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return everything[positions[0] : positions[-1]], positions - positions[0]


def text_of(array: pa.Array) -> Text:
    data, offsets = bytes_of(array)
    if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        return Text(data, offsets, np.arange(len(data) + 1), offsets)
    starts = (data & 0xC0) != 0x80
    before = np.zeros(len(data) + 1, np.int64)
    np.cumsum(starts, out=before[1:])
    return Text(data, offsets, np.append(np.flatnonzero(starts), len(data)), before[offsets])


def slice_bytes(data: Numbers, begins: Numbers, ends: Numbers, like: pa.Array) -> pa.Array:
    """The array whose row i is data[begins[i] : ends[i]], NULL where `like` is, of its type."""
    lengths = np.maximum(ends - begins, 0)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    _, positions = expand_ranges(begins, begins + lengths)
    return from_bytes(data[positions], offsets, like)


def from_bytes(data: Numbers, offsets: Numbers, like: pa.Array) -> pa.Array:
    """The array with these bytes and offsets, NULL where `like` is, of its type."""
    validity = like.is_valid().buffers()[1] if like.null_count else None
    buffers = [validity, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(like.type, len(offsets) - 1, buffers)


def slice_characters(array: pa.Array, start: Numbers, stop: Numbers) -> pa.Array:
    """Characters start[i] … stop[i] − 1 of row i, clipped to the row."""
    text = text_of(array)
    start = np.clip(start, 0, text.lengths)
    stop = np.clip(stop, start, text.lengths)
    first = text.first[:-1]
    return slice_bytes(text.bytes, text.begins[first + start], text.begins[first + stop], array)


def is_ascii(array: pa.Array) -> bool:
    """No byte of the column has its high bit set, so bytes are characters."""
    data, _ = bytes_of(array)
    return not len(data) or int(data.max()) < 0x80


def ascii_rows(array: pa.Array) -> pa.Array:
    return pc.string_is_ascii(array)
