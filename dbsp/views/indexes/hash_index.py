"""Where values are in a large view: hashes of columns, sorted once for each of its chunks.

    positions(v) = {i : hash(rowᵢ) = hash(v), rowᵢ = v}        positions(V) = ∪ {positions(v) : v ∈ V}

A chunk never changes, so that a step costs an index only what it and its merges have written. For a view of
few rows see `index.py`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.traces.zset import ZSet

# a chunk of fewer rows is searched; 12 bytes are kept a row, of at most so many rows
LARGE, _KEPT = 1 << 13, 1 << 24

_Sorted = tuple[np.ndarray, np.ndarray]


class HashIndexes:
    """Of one pipeline's views, by chunk and columns; those that were asked last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Chunk, tuple[int, ...]], _Sorted] = OrderedDict()
        self._asked: OrderedDict[tuple[Chunk, tuple[int, ...]], None] = OrderedDict()
        self._rows = 0
        self._lock = threading.Lock()

    def candidates(
        self, chunk: Chunk, rows: ZSet, columns: Sequence[int], wanted: np.ndarray
    ) -> np.ndarray | None:
        """int64[k]: among which all rows are whose hash is a wanted one; None: all of them may be.

        wanted: uint64[m], of `hashes_of`, each once. Cost: O(m log n); the second time that a chunk is asked
        by these columns O(n log n).
        """
        if not LARGE <= len(rows) <= _KEPT or hashed_among(rows.schema, columns) != [*columns]:
            return None
        found = self._sorted(chunk, rows, tuple(columns))
        if found is None:
            return None
        hashes, order = found
        first, last = np.searchsorted(hashes, wanted, "left"), np.searchsorted(hashes, wanted, "right")
        return np.sort(order[expand_ranges(first, last)[1]]).astype(np.int64)

    def has(self, chunk: Chunk, rows: int, columns: Sequence[int]) -> bool:
        """Whether a chunk of so many rows has nothing to be sorted first, nor many rows to be searched."""
        return rows < LARGE or (chunk, tuple(columns)) in self._kept

    def _sorted(self, chunk: Chunk, rows: ZSet, columns: tuple[int, ...]) -> _Sorted | None:
        key = chunk, columns
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
            if key not in self._asked:  # once is no habit
                self._asked[key] = None
                if len(self._asked) > 1000:
                    self._asked.popitem(last=False)
                return None
        # others look up meanwhile
        hashes = hashes_of(rows, columns)
        order = np.argsort(hashes).astype(np.int32)
        found = hashes[order], order
        with self._lock:
            if key not in self._kept:
                self._kept[key] = found
                self._rows += len(order)
            while self._rows > _KEPT:
                self._rows -= len(self._kept.popitem(last=False)[1][1])
        return found


def hashes_of(rows: ZSet, columns: Sequence[int]) -> np.ndarray:
    """uint64[n]: of the values in the columns. Equal integers of different widths have one, too."""
    return hash_rows([rows.column(i) for i in columns], len(rows))


def hashed_among(schema: pa.Schema, columns: Sequence[int]) -> list[int]:
    """Of these columns those whose equal values have one hash: 0.0 and -0.0 have two."""
    types = {i: schema.field(i).type for i in columns}
    return [i for i, one in types.items() if not (pt.is_floating(one) or pt.is_nested(one))]
