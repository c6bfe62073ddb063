"""Segments: files of Arrow IPC messages, written once, read through mmap.

A task writes all its batches of a step into one segment; a `Chunk` says where one of them lies. A
segment nobody refers to is garbage, so that a task which fails or runs twice does no harm.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import pyarrow as pa

from dbsp.circuits.errors import StateError

_ALIGNMENT = 64

Opened = TypeVar("Opened")


@dataclass(frozen=True, slots=True)
class Chunk:
    """rows of one batch at bytes [offset, offset + length) of a segment; sort keys in [low, high].

    tops: for each limit of the trace's retention, the greatest value in the chunk (see `retain.tops`).
    """

    segment: str
    offset: int
    length: int
    rows: int
    low: int = 0
    high: int = 0
    tops: tuple[int | None, ...] = ()

    def to_json(self) -> list[object]:
        return [self.segment, self.offset, self.length, self.rows, self.low, self.high, *self.tops]

    @staticmethod
    def from_json(value: list[object]) -> Chunk:
        return Chunk(*value[:6], tuple(value[6:]))  # type: ignore[arg-type, call-arg]


class SegmentWriter:
    """Writes one segment; the file appears under its name only when it is whole.

    durable: fsync before it appears (a commit may refer to it afterwards).
    """

    def __init__(self, root: str | Path, name: str, durable: bool = True) -> None:
        self.name, self.durable = name, durable
        self._path = Path(root) / name
        self._sink: pa.NativeFile | None = None
        self._offset = 0

    def write(
        self, batch: pa.RecordBatch, low: int = 0, high: int = 0, tops: tuple[int | None, ...] = ()
    ) -> Chunk:
        """Append one batch. Its schema is not stored: the circuit knows it."""
        if self._sink is None:
            self._sink = pa.OSFile(str(self._path) + ".tmp", "wb")
        message = batch.serialize()
        chunk = Chunk(self.name, self._offset, message.size, batch.num_rows, low, high, tops)
        padding = -message.size % _ALIGNMENT
        self._sink.write(message)
        if padding:
            self._sink.write(b"\0" * padding)
        self._offset += message.size + padding
        return chunk

    def close(self) -> None:
        """Make the segment visible. Without a batch there is no file."""
        if self._sink is None:
            return
        temporary = f"{self._path}.tmp"
        self._sink.close()
        self._sink = None
        if self.durable:
            descriptor = os.open(temporary, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        os.replace(temporary, self._path)


class Segments:
    """Opens chunks of the segments under `root`; mapped files and what is made of them are kept for reuse."""

    def __init__(self, root: str | Path, capacity: int = 4096) -> None:
        self.root = str(root)
        self._capacity = capacity
        self._files: OrderedDict[str, pa.Buffer] = OrderedDict()
        self._opened: OrderedDict[Hashable, tuple[frozenset[str], Any]] = OrderedDict()
        self._mapping = Lock()  # merges map files beside the step

    def open(self, chunk: Chunk, schema: pa.Schema) -> pa.RecordBatch:
        """The batch, without reading it: pages come in as they are touched."""
        return pa.ipc.read_record_batch(self._map(chunk.segment).slice(chunk.offset, chunk.length), schema)

    def kept(self, chunks: Sequence[Chunk], cut: Hashable, read: Callable[[], Opened]) -> Opened:
        """What `read` makes of chunks, made once for each `cut`.

        The same first chunk and number of chunks are the same chunks: a chunk lies in one run all its life.
        """
        key = (chunks[0].segment, chunks[0].offset, len(chunks), cut)
        kept = self._opened.get(key)
        if kept is not None:
            self._opened.move_to_end(key)
            return kept[1]  # type: ignore[no-any-return]
        opened = read()
        self._opened[key] = frozenset(chunk.segment for chunk in chunks), opened
        if len(self._opened) > self._capacity:
            self._opened.popitem(last=False)
        return opened

    def forget(self, segments: Set[str]) -> None:
        """Drop what is kept of segments that are about to be deleted."""
        for segment in segments:
            self._files.pop(segment, None)
        for key in [key for key, (names, _) in self._opened.items() if not names.isdisjoint(segments)]:
            del self._opened[key]

    def keep(self, segments: Set[str]) -> None:
        """Drop what is kept of all other segments: mapped, a deleted file still takes its space on disk."""
        if not self._files.keys() <= segments:
            self.forget(self._files.keys() - segments)

    def _map(self, segment: str) -> pa.Buffer:
        with self._mapping:
            return self._mapped(segment)

    def _mapped(self, segment: str) -> pa.Buffer:
        mapped = self._files.get(segment)
        if mapped is None:
            path = os.path.join(self.root, segment)
            try:
                with pa.memory_map(path) as file:
                    mapped = file.read_buffer()
            except OSError as error:
                raise StateError(f"{path}: segment can't be read ({error}); restore the directory") from error
            self._files[segment] = mapped
            if len(self._files) > self._capacity:
                self._files.popitem(last=False)
        else:
            self._files.move_to_end(segment)
        return mapped
