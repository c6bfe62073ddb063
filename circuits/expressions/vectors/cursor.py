"""A parser that reads all strings of a column at once: one cursor per row, moved by NumPy masks.

A step looks at one byte of every row. What is longer than any value that means something (blanks, digits) is
passed at once, by where the bytes of the column are that end it: so parsing costs a few vector operations,
and neither a loop over rows nor one over the bytes of the longest value.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.hashing import byte_ranges
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers

# Steps byte by byte before a run is looked up whole.
_STEPS = 24


class Cursor:
    """data: all bytes, then a 0. position, end: int64[n], where each row stands and where it stops."""

    def __init__(self, strings: pa.Array) -> None:
        starts, lengths, data = byte_ranges(strings)
        self.data = np.append(data, np.uint8(0))
        self.position = starts.copy()
        self.end = starts + lengths

    def trim(self, delete: int = 127) -> None:
        """Skip ASCII whitespace and control characters at both ends: 0 to 32, and `delete`."""
        for _ in range(_STEPS):
            if not (blank := (self.position < self.end) & _is_blank(self.data[self.position], delete)).any():
                break
            self.position += blank
        else:
            self.position = self._past(_is_blank(self.data, delete))
        for _ in range(_STEPS):
            if not (blank := (self.position < self.end) & _is_blank(self.data[self.end - 1], delete)).any():
                break
            self.end -= blank
        else:
            others = np.append(-1, np.flatnonzero(~_is_blank(self.data, delete)))
            self.end = np.maximum(others[np.searchsorted(others, self.end) - 1] + 1, self.position)

    def zeros(self) -> Numbers:
        """int64[n]: how many zeros are next in each row, which are passed."""
        start = self.position
        self.position = self._past(self.data == ord("0"))
        return np.asarray(self.position - start)

    def _past(self, run: Mask) -> Numbers:
        """int64[n]: where the run of such bytes ends that begins in front of each cursor, if one does."""
        others = np.append(np.flatnonzero(~run), len(self.data))
        return np.asarray(np.minimum(others[np.searchsorted(others, self.position)], self.end))

    @property
    def at_end(self) -> Mask:
        return np.asarray(self.position >= self.end)

    def peek(self) -> Numbers:
        """uint8[n]: the next byte, 0 at the end."""
        return np.where(self.position < self.end, self.data[self.position], np.uint8(0))

    def take(self, characters: bytes, where: Mask | None = None) -> Numbers:
        """uint8[n]: the next byte, which is passed, where it is one of `characters` (and `where`); else 0."""
        byte = self.peek()
        found = np.zeros(len(byte), dtype=np.bool_)
        for character in characters:
            found |= byte == character
        if where is not None:
            found &= where
        self.position += found
        return np.where(found, byte, np.uint8(0))

    def digits(self, where: Mask | None = None, keep: int = 18) -> tuple[Numbers, Numbers]:
        """(value of the first `keep` digits, number of digits), int64[n], of the digits next in each row."""
        value = np.zeros(len(self.position), dtype=np.int64)
        count = np.zeros(len(self.position), dtype=np.int64)
        going = np.ones(len(self.position), dtype=np.bool_) if where is None else where
        for _ in range(keep):
            digit = self.peek() - np.uint8(48)  # others wrap around to 10 and more
            going = going & (digit <= 9)
            if not going.any():
                return value, count
            value = np.where(going, value * 10 + digit, value)
            count += going
            self.position += going
        rest = np.where(going, self._past(self.data - np.uint8(48) <= 9), self.position)
        count += rest - self.position
        self.position = rest
        return value, count

    def rest(self, rows: Numbers) -> pa.Array:
        """What is left unread in the rows (positions), as strings."""
        start, end = self.position[rows], self.end[rows]
        _, where = expand_ranges(start, end)
        offsets = np.concatenate(([0], np.cumsum(end - start))).astype(np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(self.data[where]))]
        return pa.Array.from_buffers(pa.string(), len(rows), buffers)


def _is_blank(byte: Numbers, delete: int) -> Mask:
    return np.asarray((byte <= 32) | (byte == delete))
