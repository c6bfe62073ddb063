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
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, TypeVar
from weakref import WeakSet

import pyarrow as pa
import xxhash

from dbsp.circuits.columns.narrow.plain_rows import PlainRows
from dbsp.circuits.compared import Compared
from dbsp.circuits.disk import disk, refused
from dbsp.circuits.errors import DamagedChunk, StateError
from dbsp.circuits.traces.chunk import Chunk
from dbsp.circuits.traces.deferred import Deferred
from dbsp.circuits.traces.origin import Origin, Traffic

_ALIGNMENT = 64
_BLOCK = 1 << 18
# a stream that ends with its schema stops whoever iterates
_UNREADABLE = (pa.ArrowException, OSError, EOFError, MemoryError, StopIteration)

Opened = TypeVar("Opened")


class SegmentWriter:
    """Writes one segment; the file appears under its name only when it is whole.

    durable: fsync before it appears (a commit may refer to it afterwards). origin: where it is then sent.
    known: what is told of its chunks once they are there. Raises StateError where it can't.
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
        self._offset = 0
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
        chunk = Chunk(self.name, self._offset, message.size, batch.num_rows, low, high, tops, checksum)
        padding = -message.size % _ALIGNMENT
        with disk(self._path):
            if self._sink is None:
                # a small step's chunks reach the system in one call
                self._sink = Path(f"{self._path}.tmp").open("wb", buffering=_BLOCK)  # noqa: SIM115  `close` does
            self._sink.write(message)
            if padding:
                self._sink.write(b"\0" * padding)
        self._offset += message.size + padding
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
        self._opened: OrderedDict[Hashable, tuple[set[str], Any]] = OrderedDict()
        self._keys: dict[str, set[Hashable]] = {}  # of what is opened, by segment
        self.plain = PlainRows()
        self._deferred: WeakSet[Deferred[Any]] = WeakSet()
        self._mapping, self._opening = Lock(), Lock()  # merges map files and open chunks beside the step

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

    def kept(self, chunks: Sequence[Chunk], cut: Hashable, read: Callable[[], Opened]) -> Opened:
        """What `read` makes of chunks, made once for each `cut`.

        The same first chunk and number of chunks are the same chunks: a chunk lies in one run all its life.
        """
        key = _key(chunks, cut)
        with self._opening:
            kept = self._opened.get(key)
            if kept is not None:
                self._opened.move_to_end(key)
                return kept[1]  # type: ignore[no-any-return]
        opened = read()
        self._remember(key, chunks, opened)
        return opened

    def if_kept(self, chunks: Sequence[Chunk], cut: Hashable) -> object:
        """What `kept` has of them; None: nothing."""
        with self._opening:
            kept = self._opened.get(_key(chunks, cut))
        return None if kept is None else kept[1]

    def keep_open(self, chunks: Sequence[Chunk], cut: Hashable, opened: object) -> None:
        """`opened` is what reading these chunks, just written, would give `kept`: they needn't be read."""
        self._remember(_key(chunks, cut), chunks, opened)

    def let_go(self, chunks: Sequence[Chunk], cut: Hashable) -> None:
        """Nobody is likely to ask `kept` for these again: they are read if somebody does."""
        with self._opening:
            if (key := _key(chunks, cut)) in self._opened:
                self._drop(key)

    def _remember(self, key: Hashable, chunks: Sequence[Chunk], opened: object) -> None:
        names = {chunk.segment for chunk in chunks}
        with self._opening:
            self._opened[key] = names, opened
            for name in names:
                self._keys.setdefault(name, set()).add(key)
            if len(self._opened) > self._capacity:
                self._drop(next(iter(self._opened)))

    def _drop(self, key: Hashable) -> None:
        """Under the lock."""
        for name in self._opened.pop(key)[0]:
            keys = self._keys[name]
            keys.discard(key)
            if not keys:
                del self._keys[name]

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
            with self._opening:
                for key in [*self._keys.get(segment, ())]:
                    self._drop(key)
        self.plain.forget(segments)

    def keep(self, segments: Set[str]) -> None:
        """Drop what is kept of all other segments: mapped, a deleted file still takes its space on disk."""
        known = self._files.keys() | self._verified.keys() | self._keys.keys() | self.plain.segments
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


def _described(batch: pa.RecordBatch) -> pa.Buffer:
    """A stream of one batch: its schema, its dictionaries, the batch."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue()


def _key(chunks: Sequence[Chunk], cut: Hashable) -> Hashable:
    return chunks[0].segment, chunks[0].offset, len(chunks), cut


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
