"""Bitwise aggregates, from how many values have each bit.

    and = { b : count[b] = count }     or = { b : count[b] > 0 }     xor = { b : count[b] odd }

Counts add up, so all three survive retraction.  State: a row a bit and group.  Cost: O(bits of |d|).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, validity
from dbsp.circuits.operators.groups.state.members import Finalizer, Members, Split

_EVERY = -1  # the index under which values are counted, whatever their bits


@dataclass(frozen=True)
class Bits(Split):
    """An integer ↦ its set bits, and one part that counts it. NULL has no parts."""

    index: ClassVar[tuple[str, ...]] = ("bit",)

    def split(self, columns: list[pa.Array]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        (column,) = columns
        known = np.flatnonzero(validity(column))
        words = fixed_values(column)[known].astype(np.int64)
        width = column.type.bit_width
        value, bit = np.nonzero((words[:, None] >> np.arange(width)) & 1)
        positions = np.concatenate([known[value], known])
        bits = np.concatenate([bit, np.full(len(known), _EVERY)])
        return positions, [bits], np.ones(len(bits), dtype=np.int64)


@dataclass(frozen=True)
class Bitwise(Finalizer):
    """function: 'bit_and', 'bit_or', 'bit_xor'. NULL for a group without values."""

    function: str

    @property
    def split(self) -> Split:
        return Bits()

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        bits, amounts = (fixed_values(column) for column in members.columns)
        counts = np.zeros((members.count, 65), dtype=np.int64)
        np.add.at(counts, (members.owner, bits), amounts)  # _EVERY is the last one
        each, every = counts[:, :64], counts[:, 64:]
        there = {"bit_and": each == every, "bit_or": each > 0, "bit_xor": each % 2 == 1}[self.function]
        words = (there.astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
        width = data_type.bit_width
        values = words.astype(f"uint{width}").view(f"int{width}")
        return pa.array(values, data_type, mask=every[:, 0] <= 0)
