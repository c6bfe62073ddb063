"""A parser that reads all strings of a column at once: one cursor per row, moved by NumPy masks.

A step looks at one byte of every row, so that parsing costs as many vector operations as the longest value
has bytes, and no loop over rows.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.hashing import byte_ranges
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers


class Cursor:
    """data: all bytes, then a 0. at, end: int64[n], where each row stands and where it stops."""

    def __init__(self, strings: pa.Array) -> None:
        starts, lengths, data = byte_ranges(strings)
        self.data = np.append(data, np.uint8(0))
        self.at = starts.copy()
        self.end = starts + lengths

    def trim(self, delete: int = 127) -> None:
        """Skip ASCII whitespace and control characters at both ends: 0 to 32, and `delete`."""
        while (blank := (self.at < self.end) & _is_blank(self.data[self.at], delete)).any():
            self.at += blank
        while (blank := (self.at < self.end) & _is_blank(self.data[self.end - 1], delete)).any():
            self.end -= blank

    @property
    def at_end(self) -> Mask:
        return np.asarray(self.at >= self.end)

    def peek(self) -> Numbers:
        """uint8[n]: the next byte, 0 at the end."""
        return np.where(self.at < self.end, self.data[self.at], np.uint8(0))

    def take(self, characters: bytes, where: Mask | None = None) -> Numbers:
        """uint8[n]: the next byte, which is passed, where it is one of `characters` (and `where`); else 0."""
        byte = self.peek()
        found = np.zeros(len(byte), dtype=np.bool_)
        for character in characters:
            found |= byte == character
        if where is not None:
            found &= where
        self.at += found
        return np.where(found, byte, np.uint8(0))

    def digits(self, where: Mask | None = None, keep: int = 18) -> tuple[Numbers, Numbers]:
        """(value of the first `keep` digits, number of digits), int64[n], of the digits next in each row."""
        value = np.zeros(len(self.at), dtype=np.int64)
        count = np.zeros(len(self.at), dtype=np.int64)
        going = np.ones(len(self.at), dtype=np.bool_) if where is None else where
        while True:
            digit = self.peek() - np.uint8(48)  # others wrap around to 10 and more
            going = going & (digit <= 9)
            if not going.any():
                return value, count
            kept = going & (count < keep)
            value = np.where(kept, value * 10 + digit, value)
            count += going
            self.at += going

    def rest(self, rows: Numbers) -> pa.Array:
        """What is left unread in the rows (positions), as strings."""
        lengths = self.end[rows] - self.at[rows]
        ends = np.cumsum(lengths)
        where = np.arange(int(lengths.sum())) + np.repeat(self.at[rows] - (ends - lengths), lengths)
        offsets = np.concatenate(([0], ends)).astype(np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(self.data[where]))]
        return pa.Array.from_buffers(pa.string(), len(rows), buffers)


def _is_blank(byte: Numbers, delete: int) -> Mask:
    return np.asarray((byte <= 32) | (byte == delete))
