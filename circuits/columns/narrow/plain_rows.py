"""Rows with narrow columns, made plain for readers that ask for all of them, again and again.

Those that were asked for last are kept, up to a number of bytes. They are in memory, whatever becomes of the
segments that hold the narrow ones. Threads may share them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Set
from threading import Lock

import pyarrow as pa

BYTES = 1 << 28


class PlainRows:
    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, Hashable], pa.RecordBatch] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    @property
    def segments(self) -> frozenset[str]:
        """Whose rows are kept."""
        with self._lock:
            return frozenset(segment for segment, _ in self._kept)

    def of(self, segment: str, chunk: Hashable, make: Callable[[], pa.RecordBatch]) -> pa.RecordBatch:
        """All rows of a segment's chunk. Cost: as `make`, where they aren't kept."""
        key = segment, chunk
        with self._lock:
            rows = self._kept.get(key)
            if rows is not None:
                self._kept.move_to_end(key)
                return rows
        rows = make()  # others read meanwhile
        with self._lock:
            if key not in self._kept and rows.nbytes <= BYTES:
                self._kept[key] = rows
                self._bytes += rows.nbytes
                while self._bytes > BYTES:
                    self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return rows

    def forget(self, segments: Set[str]) -> None:
        """Of segments that are about to be deleted nobody asks again."""
        with self._lock:
            for key in [key for key in self._kept if key[0] in segments]:
                self._bytes -= self._kept.pop(key).nbytes
