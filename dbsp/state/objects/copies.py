"""The segments of a state on a store, of which this host has copies (`Origin`).

A segment that is written here is a copy from its first byte, and is sent while the task goes on; what is read
is copied once for all processes of the host. A task is done when all it wrote is there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO

from dbsp.circuits.segments.origin import Traffic
from dbsp.state.objects.bucket import Bucket
from dbsp.state.objects.host_cache import HostCache, cache_root
from dbsp.state.objects.path import SEGMENTS

_SENDING = 8


class Copies:
    """bucket: of the state. root: of the copies, unless they are the host's."""

    def __init__(self, bucket: Bucket, root: Path | None = None) -> None:
        self._bucket = bucket
        self.cache = HostCache(bucket.uri, root or cache_root())
        self._sending: dict[str, Future[None]] = {}
        self._threads: ThreadPoolExecutor | None = None  # made where it is used: a task may only read
        self._changing = Lock()
        self._brought: set[str] = set()  # and not opened yet
        self._opened = Traffic()

    @property
    def uri(self) -> str:
        return self._bucket.uri

    @property
    def traffic(self) -> Traffic:
        return self._bucket.traffic + self._opened

    def fetch(self, segment: str, anew: bool) -> None:
        damaged = self.cache.stat(segment) if anew else None

        def write(path: Path) -> None:
            self._bucket.fetch(_object(segment), path)
            with self._changing:
                self._brought.add(segment)

        self.cache.bring(segment, write, damaged)

    def used(self, segment: str) -> None:
        self.cache.used(segment)
        with self._changing:
            if segment in self._brought:
                self._brought.discard(segment)
                self._opened.fetched += 1
            else:
                self._opened.found += 1

    def send(self, segment: str) -> None:
        file = self.cache.path(segment).open("rb")  # which it stays, should the copy go
        with self._changing:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(_SENDING, "dbsp-send")
            self._sending[segment] = self._threads.submit(self._send, segment, file)

    def _send(self, segment: str, file: IO[bytes]) -> None:
        with file:
            self._bucket.send(_object(segment), file, os.fstat(file.fileno()).st_size)
        self.cache.grew(segment)

    def settle(self, segments: Set[str] | None) -> None:
        failed: list[BaseException] = []
        for segment, sent in self._begun(segments).items():
            error = sent.exception()
            if error is None:
                self._ended({segment: sent})
                continue
            failed.append(error)
            with suppress(OSError):  # its copy may have gone: then it is told again that it wasn't sent
                self.send(segment)  # whoever tries again has it sent by then
        if failed:
            raise failed[0]

    def _begun(self, segments: Set[str] | None) -> dict[str, Future[None]]:
        """What is being sent of them, or couldn't be."""
        with self._changing:
            begun = self._sending.keys() if segments is None else self._sending.keys() & segments
            return {segment: self._sending[segment] for segment in sorted(begun)}

    def _ended(self, begun: Mapping[str, Future[None]]) -> None:
        """Nobody has to ask for these any more."""
        with self._changing:
            for segment, sent in begun.items():
                if self._sending.get(segment) is sent:
                    del self._sending[segment]

    def names(self, prefix: str, after: str | None = None) -> list[str]:
        """after: those behind that name."""
        wait(list(self._sending.values()))
        begin = f"{SEGMENTS}/"
        last = None if after is None else begin + after
        return [name.removeprefix(begin) for name in self._bucket.names(begin + prefix, last)]

    def delete(self, segments: Iterable[str]) -> None:
        every = set(segments)
        begun = self._begun(every)
        wait(begun.values())  # else it would come back
        self._ended(begun)
        for segment in every:
            self.cache.path(segment).unlink(missing_ok=True)
        self._bucket.delete(map(_object, every))

    def close(self) -> None:
        """Leave what is being sent."""
        if self._threads is not None:
            self._threads.shutdown()


def _object(segment: str) -> str:
    return f"{SEGMENTS}/{segment}"
