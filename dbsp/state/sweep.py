"""What nothing refers to any more is deleted. That is no part of a step: it can fail, and is then made good.

A file that can't be deleted now is tried again after the next step, and at the next opening of the directory.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dbsp.circuits.traces.segments import Segments

log = logging.getLogger("dbsp")


class Sweep:
    """Of the segments of a directory."""

    def __init__(self, segments: Segments) -> None:
        self._segments = segments
        self._thread = ThreadPoolExecutor(1, "dbsp-sweep")
        self._left: set[str] = set()

    def now(self, names: Iterable[str]) -> None:
        """Delete them, in this thread."""
        self.add(names)
        self._delete()

    def add(self, names: Iterable[str]) -> None:
        """To be deleted: nobody will open them again."""
        names = frozenset(names)
        self._segments.forget(names)
        self._left |= names

    def beside(self) -> None:
        """Delete what was added, and what was left, beside the steps: a large file takes milliseconds."""
        if self._left:
            self._thread.submit(self._delete)

    def attempt(self, prefix: str) -> None:
        """Delete all files whose names begin so."""
        try:
            self.now([e.name for e in os.scandir(self._segments.root) if e.name.startswith(prefix)])
        except OSError as error:
            log.warning("%s: can't be listed (%s); swept when it is next opened", self._segments.root, error)

    def close(self) -> None:
        """Waits for what is being deleted."""
        self._thread.shutdown()

    def _delete(self) -> None:
        for name in sorted(self._left):
            if delete(Path(self._segments.root) / name):
                self._left.discard(name)


def delete(path: Path) -> bool:
    """Whether the file is gone; why not is logged."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        if not os.path.lexists(path):
            return True  # over a network the answer can get lost
        log.warning("%s: can't be deleted (%s); tried again later", path, error.strerror)
        return False
    return True
