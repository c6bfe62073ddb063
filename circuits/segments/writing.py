"""Writing a segment: a file of Arrow IPC messages, written once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import xxhash

from dbsp.circuits.disk import disk
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.origin import Origin

_ALIGNMENT = 64
# a small step's chunks reach the system in one call
_BLOCK = 1 << 18


class SegmentWriter:
    """Writes one segment; the file appears under its name only when it is whole.

    durable: fsync before it appears (a commit may refer to it afterwards). origin: where it is then sent.
    known: what is told of its chunks once they are there. size: in bytes, so far. Raises StateError where it
    can't.
    """

    def __init__(
        self,
        root: str | Path,
        name: str,
        durable: bool = True,
        origin: Origin | None = None,
        known: Callable[[str, set[Chunk]], None] | None = None,
    ) -> None:
        self.name, self.durable, self._origin = name, durable and origin is None, origin
        self._path = Path(root) / name
        self._sink: BinaryIO | None = None
        self.size = 0
        self._known, self._written = known, set[Chunk]()

    def write(
        self,
        batch: pa.RecordBatch,
        low: int = 0,
        high: int = 0,
        tops: tuple[int | None, ...] = (),
        described: bool = False,
    ) -> Chunk:
        """Append one batch. described: with its schema; else the circuit knows that."""
        message = _described(batch) if described else batch.serialize()
        checksum = xxhash.xxh3_64_intdigest(message)
        chunk = Chunk(self.name, self.size, message.size, batch.num_rows, low, high, tops, checksum)
        padding = -message.size % _ALIGNMENT
        with disk(self._path):
            if self._sink is None:
                self._sink = Path(f"{self._path}.tmp").open("wb", buffering=_BLOCK)  # noqa: SIM115  `close` does
            self._sink.write(message)
            if padding:
                self._sink.write(b"\0" * padding)
        self.size += message.size + padding
        self._written.add(chunk)
        return chunk

    def close(self) -> None:
        """Make the segment visible. Without a batch there is no file."""
        if self._sink is None:
            return
        temporary = f"{self._path}.tmp"
        with disk(self._path):
            self._sink.close()
            self._sink = None
            if self.durable:
                descriptor = os.open(temporary, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
            os.replace(temporary, self._path)
        if self._known is not None:
            self._known(self.name, self._written)
        if self._origin is not None:
            self._origin.send(self.name)


def _described(batch: pa.RecordBatch) -> pa.Buffer:
    """A stream of one batch: its schema, its dictionaries, the batch."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue()
