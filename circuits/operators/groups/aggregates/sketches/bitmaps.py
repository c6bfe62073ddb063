"""Aggregates that make bitmaps of 32,768 bits, from how many values have each bit.

    construct = { p : count[p] > 0 }     or = { b : count[b] > 0 }     and = { b : count[b] = count }

As bitwise aggregates are of integers, linear.  State: a row a bit and group.  Cost: O(bits of |d|).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, validity
from dbsp.circuits.columns.hashing import byte_ranges
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.groups.state.members import Finalizer, Members, Split

BYTES = 4096
_BITS = 8 * BYTES
_EVERY = -1  # the index under which bitmaps are counted, whatever their bits


@dataclass(frozen=True)
class Positions(Split):
    """The number of a bit ↦ that bit. Raises EvaluationError for what is no place in a bitmap."""

    index: ClassVar[tuple[str, ...]] = ("bit",)

    def split(self, columns: list[pa.Array]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        (column,) = columns
        known = np.flatnonzero(validity(column))
        bits = fixed_values(column)[known].astype(np.int64)
        bad = (bits < 0) | (bits >= _BITS)
        if bad.any():
            at = int(np.argmax(bad))
            message = f"{bits[at]} is no place in a bitmap of {BYTES} bytes"
            raise EvaluationError("INVALID_BITMAP_POSITION", message, int(known[at]))
        return known, [bits], np.ones(len(known), dtype=np.int64)


@dataclass(frozen=True)
class SetBits(Split):
    """A bitmap ↦ its set bits, and one part that counts it. Bytes behind those of a bitmap are left out."""

    index: ClassVar[tuple[str, ...]] = ("bit",)

    def split(self, columns: list[pa.Array]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        (column,) = columns
        known = np.flatnonzero(validity(column))
        starts, lengths, data = byte_ranges(column)
        lengths = np.minimum(lengths[known], BYTES)
        owner = np.repeat(known, lengths)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        bytes_ = data[starts[owner] + within]
        place, bit = np.nonzero((bytes_[:, None] >> np.arange(8, dtype=np.uint8)) & 1)
        positions = np.concatenate([owner[place], known])
        bits = np.concatenate([within[place] * 8 + bit, np.full(len(known), _EVERY)])
        return positions, [bits], np.ones(len(bits), dtype=np.int64)


@dataclass(frozen=True)
class Bitmap(Finalizer):
    """function: 'construct', 'or', 'and'. Of a group without values no bit is set, of 'and' every one."""

    function: str

    @property
    def split(self) -> Split:
        return Positions() if self.function == "construct" else SetBits()

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        bit, amount = (fixed_values(column) for column in members.columns)
        places, inverse = np.unique(members.owner * (_BITS + 1) + bit + 1, return_inverse=True)
        counts = np.zeros(len(places), dtype=np.int64)
        np.add.at(counts, inverse, amount)
        owner, bit = np.divmod(places, _BITS + 1)
        bit -= 1
        every = np.zeros(members.count, dtype=np.int64)
        every[owner[bit == _EVERY]] = counts[bit == _EVERY]
        there = (counts == every[owner]) if self.function == "and" else (counts > 0)
        there &= bit != _EVERY
        made = np.zeros((members.count, BYTES), dtype=np.uint8)
        owner, bit = owner[there], bit[there]
        np.bitwise_or.at(made, (owner, bit // 8), np.left_shift(1, bit % 8).astype(np.uint8))
        if self.function == "and":
            made[every <= 0] = 255
        offsets = np.arange(members.count + 1, dtype=np.int32) * BYTES
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(made)]
        return pa.Array.from_buffers(pa.binary(), members.count, buffers).cast(data_type)
