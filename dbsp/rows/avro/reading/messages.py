"""Messages that are read side by side: one position for each, moved by NumPy.

Avro says of a value where it ends, and of nothing else; so the values of one message follow each other. Those
of different messages don't: each step here reads the next value of all of them. Cost: O(bytes), and a few
calls of NumPy for each field, whatever the number of messages.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.hashing import byte_ranges
from dbsp.circuits.expressions.vectors.numbers import Numbers

# The longest number, and what a value of fixed width may look at behind the end.
_PADDING = 16
CUT = "it ends too early"


class Messages:
    """rows: of them, as positions. data: of all, then zeros. at, end: int64[n].

    A message that is refused is at its end: what is read of it afterwards means nothing.
    """

    def __init__(self, values: pa.Array, head: int = 0) -> None:
        """head: how many bytes each begins with that aren't read; all have them."""
        starts, lengths, data = byte_ranges(values)
        self.data = np.concatenate([data, np.zeros(_PADDING, np.uint8)])
        self.at = starts + head
        self.end = starts + lengths
        self.reasons: list[str] = []
        self._why = np.zeros(len(starts), np.int32)

    @property
    def rows(self) -> Numbers:
        """int64[n]: all of them."""
        return np.arange(len(self.at))

    @property
    def is_refused(self) -> Numbers:
        """bool[n]"""
        return np.asarray(self._why > 0)

    def are_refused(self, rows: Numbers) -> Numbers:
        """bool[rows]"""
        return np.asarray(self._why[rows] > 0)

    def why(self) -> pa.Array:
        """Of each message why it was refused; NULL of the others."""
        taken = pa.array(np.maximum(self._why - 1, 0), mask=self._why == 0)
        return pa.array(self.reasons, pa.string()).take(taken)

    def refuse(self, rows: Numbers, reason: str) -> None:
        """The first reason of each counts."""
        if not len(rows):
            return
        if reason not in self.reasons:
            self.reasons.append(reason)
        new = rows[self._why[rows] == 0]
        self._why[new] = self.reasons.index(reason) + 1
        self.at[rows] = self.end[rows]

    def longs(self, rows: Numbers) -> Numbers:
        """int64[rows]: the next number, of seven bits a byte, its sign the last bit. 0 where refused."""
        at = self.at[rows]
        byte = self.data[at]
        value = (byte & 0x7F).astype(np.uint64)
        going = np.flatnonzero(byte >= 0x80)
        end = at + 1
        for k in range(1, 10):
            if not len(going):
                break
            byte = self.data[at[going] + k]
            value[going] |= (byte & 0x7F).astype(np.uint64) << np.uint64(7 * k)
            end[going] += 1
            going = going[byte >= (0x80 if k < 9 else 2)]
        self.at[rows] = end
        wrong = np.flatnonzero(end > self.end[rows])
        self.refuse(rows[wrong], CUT)
        self.refuse(rows[going], "a number has more than 64 bits")
        value[wrong], value[going] = 0, 0
        return np.asarray((value >> np.uint64(1)).view(np.int64) ^ -(value & np.uint64(1)).view(np.int64))

    def passed(self, rows: Numbers, lengths: Numbers | int) -> Numbers:
        """int64[rows]: where so many bytes begin, which are passed; what isn't there is refused."""
        start = self.at[rows]
        left = self.end[rows] - start
        bad = (left < lengths) | (np.asarray(lengths) < 0)
        self.at[rows] = start + np.where(bad, 0, lengths)
        self.refuse(rows[bad], CUT)
        return start

    def matrix(self, rows: Numbers, width: int) -> Numbers:
        """uint8[rows, width]: the next bytes; width: at most 16."""
        start = self.passed(rows, width)
        return np.asarray(self.data[start[:, None] + np.arange(width)])

    def slices(self, rows: Numbers, size: int | None = None) -> pa.Array:
        """BINARY[rows]: the next bytes, as many as their length says, or the size. Empty where refused."""
        lengths = self.longs(rows) if size is None else np.full(len(rows), size, np.int64)
        starts = self.passed(rows, lengths)
        lengths = np.where(self._why[rows] > 0, 0, lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        where = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(self.data[where])]
        return pa.Array.from_buffers(pa.binary(), len(rows), buffers)

    def finish(self) -> None:
        """Whatever is left of a message is no part of it."""
        left = np.flatnonzero(self.at < self.end)
        self.refuse(left, "it goes on behind its last field")
