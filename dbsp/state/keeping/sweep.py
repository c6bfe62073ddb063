"""What nothing refers to any more is deleted. That is no part of a step: it can fail, and is then made good.

A file that can't be deleted now is tried again after the next step, and at the next opening of the directory.
Of segments on a store many go in one request.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dbsp.circuits.segments.origin import Origin
from dbsp.circuits.segments.segments import Segments
from dbsp.state.records.places import delete

log = logging.getLogger("dbsp")


# of a store: how many segments are collected before they are deleted, in one request
COLLECTED = 100


class Sweep:
    """Of the segments of a state."""

    def __init__(self, segments: Segments) -> None:
        self._segments = segments
        self._thread = ThreadPoolExecutor(1, "dbsp-sweep")
        self._left: set[str] = set()
        self._prefixes: set[str] = set()  # of attempts that failed, whose names aren't known yet

    def now(self, names: Iterable[str]) -> None:
        """Delete them, in this thread, and nothing else; on a store when it is worth a request."""
        names = frozenset(names)
        self.add(names)
        if self._segments.origin is None:
            self._delete_here(names)

    def add(self, names: Iterable[str]) -> None:
        """To be deleted: nobody will open them again."""
        names = frozenset(names)
        self._segments.forget(names)
        self._left |= names

    def beside(self) -> None:
        """Delete what was added, and what was left, beside the steps: a large file takes milliseconds."""
        if len(self._left) >= (1 if self._segments.origin is None else COLLECTED):
            self._thread.submit(self._delete)

    def attempt(self, prefix: str) -> None:
        """Delete all files whose names begin so."""
        if self._segments.origin is not None:
            self._prefixes.add(prefix)
            self._delete()
            return
        try:
            self.now([e.name for e in os.scandir(self._segments.root) if e.name.startswith(prefix)])
        except OSError as error:
            log.warning("%s: can't be listed (%s); swept when it is next opened", self._segments.root, error)

    def close(self) -> None:
        """Waits for what is being deleted."""
        if self._segments.origin is not None and (self._left or self._prefixes):
            self._thread.submit(self._delete)
        self._thread.shutdown()

    def _delete(self) -> None:
        origin = self._segments.origin
        if origin is not None:
            self._delete_there(origin)
            return
        self._delete_here(frozenset(self._left))

    def _delete_here(self, names: frozenset[str]) -> None:
        for name in sorted(names):
            if delete(Path(self._segments.root) / name):
                self._left.discard(name)

    def _delete_there(self, origin: Origin) -> None:
        try:
            for prefix in sorted(self._prefixes):
                self.add(origin.names(prefix))
                self._prefixes.discard(prefix)
            gone = frozenset(self._left)
            if gone:
                origin.delete(gone)
                self._left -= gone
        except OSError as error:
            log.warning("%s: can't be swept (%s); tried again later", origin.uri, error)
