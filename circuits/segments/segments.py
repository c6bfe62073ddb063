"""Segments: files of Arrow IPC messages, written once, read through mmap.

A task writes all its batches of a step into one segment; a `Chunk` says where one of them lies, and what
its bytes hash to. A segment nobody refers to is garbage, so that a task which fails or runs twice does no
harm.

What a chunk's bytes hash to (xxh3, 64 bits) is compared before anything is made of them: Arrow believes
what it reads, and takes a flipped bit for a length of petabytes. Who wrote them has just hashed them, and
compares nothing.

Where segments are kept on another machine, their directory is a cache of it (`Origin`): what isn't there, or
is damaged, is fetched.
"""

from __future__ import annotations

import errno
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence, Set
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakSet

import pyarrow as pa
import xxhash

from dbsp.circuits.columns.narrow.plain_rows import PlainRows
from dbsp.circuits.disk import disk, refused
from dbsp.circuits.errors import DamagedChunk, StateError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.compared import Compared
from dbsp.circuits.segments.deferred import Deferred
from dbsp.circuits.segments.kept import KeptOpen, Opened
from dbsp.circuits.segments.origin import Origin, Traffic
from dbsp.circuits.segments.writing import SegmentWriter

_BLOCK = 1 << 18
# a stream that ends with its schema stops whoever iterates
_UNREADABLE = (pa.ArrowException, OSError, EOFError, MemoryError, StopIteration)


class Segments:
    """Opens chunks of the segments under `root`; mapped files and what is made of them are kept for reuse.

    verify: a chunk is compared with its checksum the first time it is opened here, unless it was written
    here, or an earlier process has told of it. origin: what `root` has copies of.
    """

    def __init__(
        self, root: str | Path, capacity: int = 4096, verify: bool = True, origin: Origin | None = None
    ) -> None:
        self.root = str(root)
        self.origin = origin
        self.verify = verify
        self._capacity = capacity
        self._files: OrderedDict[str, pa.Buffer] = OrderedDict()
        self._verified: dict[str, set[Chunk]] = {}
        self._compared: Compared | None = None
        self.kept = KeptOpen(capacity)
        self.plain = PlainRows()
        self._deferred: WeakSet[Deferred[Any]] = WeakSet()
        self._mapping = Lock()  # merges map files beside the step

    @property
    def place(self) -> str:
        """By which a task finds them."""
        return self.root if self.origin is None else self.origin.uri

    @property
    def traffic(self) -> Traffic:
        """With where they are kept, by this process, so far."""
        return Traffic() if self.origin is None else self.origin.traffic

    def writer(self, name: str, durable: bool = True) -> SegmentWriter:
        """Of a new segment."""
        return SegmentWriter(self.root, name, durable, self.origin, self._verified.__setitem__)

    def names(self, prefix: str) -> list[str]:
        """The segments whose names begin so. Raises StateError."""
        if self.origin is None:
            with disk(self.root):
                return [entry.name for entry in os.scandir(self.root) if entry.name.startswith(prefix)]
        with disk(self.origin.uri):
            return self.origin.names(prefix)

    def settle(self, segments: Set[str] | None = None) -> None:
        """Wait until these, or all that were written here, are where they are kept. Raises StateError."""
        if self.origin is not None:
            with disk(self.origin.uri):
                self.origin.settle(segments)

    def open(self, chunk: Chunk, schema: pa.Schema, owner: object = "") -> pa.RecordBatch:
        """The batch, of `schema` or of the one that it was written with.

        Unless it is to be verified, nothing is read: pages come in as they are touched.
        owner: what it is part of, in words, for people. Raises DamagedChunk.
        """
        if self.verify:
            self.check(chunk, owner)
        mapped = self._map(chunk, owner)
        if self.verify and self.origin is not None:
            self.check(chunk, owner)  # again, where it was dropped and fetched in between
        if mapped.size < chunk.offset + chunk.length:
            raise self._damaged(chunk, "ends early", owner)
        found = mapped.slice(chunk.offset, chunk.length)
        try:
            message = pa.ipc.read_message(found)
            if message.type == "schema":
                return pa.ipc.open_stream(found).read_next_batch()
            return pa.ipc.read_record_batch(message, schema)
        except _UNREADABLE as error:  # it wasn't verified
            raise self._damaged(chunk, f"is no Arrow batch: {error}", owner) from None

    def trust_others(self) -> None:
        """What other processes have compared isn't compared again; theirs is told by `tell_others`."""
        if self.verify and self.origin is None:
            self._compared = Compared(self.root)

    def tell_others(self) -> None:
        """What was compared here."""
        if self._compared is not None:
            self._compared.tell()

    def check(self, chunk: Chunk, owner: object = "") -> None:
        """Compare a chunk with its checksum, unless that has been done. Raises DamagedChunk."""
        if chunk in self._verified.get(chunk.segment, ()):
            return
        compared = self._compared
        if compared is not None and compared.knows(chunk.segment, chunk.offset, chunk.checksum):
            return
        file = compared.file(chunk.segment) if compared is not None else None
        problem = self._problem(chunk, owner)
        if problem and self.origin is not None:  # of the copy, perhaps
            self._fetch(chunk, owner, anew=True)
            problem = self._problem(chunk, owner)
        if problem:
            raise self._damaged(chunk, problem, owner)
        self._verified.setdefault(chunk.segment, set()).add(chunk)
        if compared is not None:
            compared.add(chunk.segment, chunk.offset, chunk.checksum, file)

    def _problem(self, chunk: Chunk, owner: object) -> str:
        """In what a chunk's bytes differ from what they were; of one that is whole it's empty."""
        path = self._path(chunk)
        try:
            found = self._found(chunk, owner, lambda: _hash_of(path, chunk))
        except OSError as error:  # a read, so that a disk that fails says so: through a mapping it kills
            return f"can't be read ({error.strerror or error})"
        if found is None:
            return "ends early"
        return "" if found == chunk.checksum else "differs from its checksum"

    def check_all(self, chunks: Iterable[Chunk], owner: object = "") -> None:
        """`check` every chunk."""
        for chunk in chunks:
            self.check(chunk, owner)

    def later(self, chunks: Sequence[Chunk], read: Callable[[], Opened]) -> Deferred[Opened]:
        """What `read` makes of chunks, for as long as it is held, whatever becomes of their segments."""
        deferred = Deferred({chunk.segment for chunk in chunks}, read)
        if self.origin is None:
            deferred.get()
        else:
            self._deferred.add(deferred)
        return deferred

    def forget(self, segments: Set[str]) -> None:
        """Drop what is kept of segments that are about to be deleted."""
        for deferred in [*self._deferred]:
            if not deferred.segments.isdisjoint(segments):
                deferred.save()
        if self._compared is not None:
            self._compared.forget(segments)
        for segment in segments:
            self._files.pop(segment, None)
            self._verified.pop(segment, None)
        self.kept.forget(segments)
        self.plain.forget(segments)

    def keep(self, segments: Set[str]) -> None:
        """Drop what is kept of all other segments: mapped, a deleted file still takes its space on disk."""
        known = self._files.keys() | self._verified.keys() | self.kept.segments | self.plain.segments
        if not known <= segments:
            self.forget(known - segments)

    def _path(self, chunk: Chunk) -> str:
        return os.path.join(self.root, chunk.segment)

    def _map(self, chunk: Chunk, owner: object) -> pa.Buffer:
        """The whole segment that holds the chunk."""
        with self._mapping:
            mapped = self._files.get(chunk.segment)
            if mapped is not None:
                self._files.move_to_end(chunk.segment)
                return mapped
            try:
                mapped = self._found(chunk, owner, lambda: _mapped(self._path(chunk)))
            except OSError as error:
                raise self._damaged(chunk, f"can't be read ({error})", owner) from None
            self._files[chunk.segment] = mapped
            if self.origin is not None:
                self.origin.used(chunk.segment)
            if len(self._files) > self._capacity:
                self._files.popitem(last=False)
            return mapped

    def _found(self, chunk: Chunk, owner: object, read: Callable[[], Opened]) -> Opened:
        """What `read` makes of the segment, which is fetched where it isn't here. Raises DamagedChunk."""
        try:
            return read()
        except FileNotFoundError:
            if self.origin is None:
                raise self._missing(chunk, owner) from None
        self._fetch(chunk, owner, anew=False)
        return read()

    def _fetch(self, chunk: Chunk, owner: object, anew: bool) -> None:
        assert self.origin is not None
        self._verified.pop(chunk.segment, None)
        self._files.pop(chunk.segment, None)
        try:
            with disk(self.origin.uri):
                self.origin.fetch(chunk.segment, anew)
        except StateError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise self._damaged(chunk, "is missing", owner) from None
            raise

    def _missing(self, chunk: Chunk, owner: object) -> StateError:
        if os.path.isdir(self.root):
            return self._damaged(chunk, "is missing", owner)
        gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.root)
        return refused(gone, self.root)

    def _damaged(self, chunk: Chunk, problem: str, owner: object) -> DamagedChunk:
        path = self._path(chunk) if self.origin is None else f"{self.origin.uri}/segments/{chunk.segment}"
        return DamagedChunk(path, chunk.offset, problem, str(owner))


def _mapped(path: str) -> pa.Buffer:
    with pa.memory_map(path) as file:
        return file.read_buffer()


def _hash_of(path: str, chunk: Chunk) -> int | None:
    """Of the bytes that are in the file; None: it ends before."""
    hashing = xxhash.xxh3_64()
    block = memoryview(bytearray(min(_BLOCK, max(chunk.length, 1))))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        at, left = chunk.offset, chunk.length
        while left:
            count = os.preadv(descriptor, [block[:left]], at)
            if not count:
                return None
            hashing.update(block[:count])
            at, left = at + count, left - count
    finally:
        os.close(descriptor)
    return hashing.intdigest()
