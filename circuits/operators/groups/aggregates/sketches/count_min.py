"""count_min_sketch: Spark's Count-Min sketch, the same bytes.

    value ↦ one cell in each of `depth` rows of `width` cells        sketch[cell] = how many values are in it

Counts add up, so that the sketch is linear.  Cormode, Muthukrishnan: An improved data stream summary, 2005.
State: a row a cell and group.  Cost: O(depth |d|).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, validity
from dbsp.circuits.functions.texts.spark_hashes import murmur3
from dbsp.circuits.operators.groups.state.members import Finalizer, Members, Split

_VERSION = 1
_PRIME = np.int64((1 << 31) - 1)


@dataclass(frozen=True)
class Cells(Split):
    """A value ↦ its cell in each row. NULL has none."""

    depth: int
    width: int
    seed: int
    index: ClassVar[tuple[str, ...]] = ("cell",)

    def split(self, columns: list[pa.Array]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        (column,) = columns
        known = np.flatnonzero(validity(column))
        values = column.take(pa.array(known))
        if pa.types.is_integer(values.type):
            buckets = self._of_integers(fixed_values(values).astype(np.int64))
        else:
            buckets = self._of_bytes(values)
        cells = buckets + np.arange(self.depth)[:, None] * self.width
        amounts = np.ones(cells.size, dtype=np.int64)
        return np.tile(known, self.depth), [cells.ravel()], amounts

    def _of_integers(self, values: np.ndarray) -> np.ndarray:
        factors = np.array(factors_of(self.seed, self.depth), np.int64)
        with np.errstate(over="ignore"):
            hashes = factors[:, None] * values
            hashes = (hashes + (hashes >> np.int64(32))) & _PRIME
        return np.asarray(hashes % self.width)

    def _of_bytes(self, values: pa.Array) -> np.ndarray:
        first = murmur3(values, np.zeros(len(values), np.int32))
        second = murmur3(values, first)
        steps = np.arange(self.depth, dtype=np.int32)[:, None]
        with np.errstate(over="ignore"):
            mixed = first + steps * second
        return np.asarray(np.abs(np.fmod(mixed.astype(np.int64), self.width)))


@lru_cache(maxsize=64)
def factors_of(seed: int, depth: int) -> tuple[int, ...]:
    """What java.util.Random(seed).nextInt(2³¹ − 1) gives, so many times."""
    state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)
    made: list[int] = []
    while len(made) < depth:
        state = (state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        bits = state >> 17
        if bits < 2**31 - 1:  # the one that is rejected
            made.append(bits)
    return tuple(made)


@dataclass(frozen=True)
class CountMinSketch(Finalizer):
    """relative_error: how far off a count may be, as a part of all. confidence: how often it is nearer."""

    relative_error: float
    confidence: float
    seed: int

    @property
    def split(self) -> Split:
        return Cells(self._depth, self._width, self.seed)

    @property
    def _width(self) -> int:
        return math.ceil(2 / self.relative_error)

    @property
    def _depth(self) -> int:
        return math.ceil(-math.log1p(-self.confidence) / math.log(2))

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        """Version, total, depth, width, a factor a row, the cells: big-endian."""
        depth, width = self._depth, self._width
        cell, amount = (fixed_values(column) for column in members.columns)
        counts = np.zeros((members.count, depth * width), dtype=np.int64)
        np.add.at(counts, (members.owner, cell), amount)
        head = np.dtype([("version", ">i4"), ("total", ">i8"), ("depth", ">i4"), ("width", ">i4")])
        layout = np.dtype([*head.descr, ("factors", ">i8", depth), ("cells", ">i8", depth * width)])
        made = np.zeros(members.count, layout)
        made["version"], made["depth"], made["width"] = _VERSION, depth, width
        made["total"] = counts[:, :width].sum(axis=1)
        made["factors"] = factors_of(self.seed, depth)
        made["cells"] = counts
        offsets = np.arange(members.count + 1, dtype=np.int32) * layout.itemsize
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(made.tobytes())]
        return pa.Array.from_buffers(pa.binary(), members.count, buffers).cast(data_type)
