"""Which chunks were compared with their checksums, told from one process to the next of this user and host.

A process compares a chunk when it first reads of it, which reads all of it, and trusts it from then on. Where
each step is a process of its own, any change, however small, would so cost all of the traces that it is
looked up in. So who comes within a day trusts what was compared, as one that goes on for a day does; as long
as the file is the same, by inode, size and times. What it has written a process doesn't tell: the next one
reads it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

from dbsp.circuits.private_directory import cache_directory, read_private, write_private

DAY = 86_400.0  # seconds


@dataclass
class _Segment:
    """file: see `_file`. at: when the first of its chunks was compared. checksums: by the chunks' places."""

    file: list[int]
    at: float
    checksums: dict[int, int]


@dataclass
class Compared:
    """root: a directory of segments, which has only one that tells."""

    root: str
    _known: dict[str, _Segment] = field(default_factory=dict)
    _looked_at: set[str] = field(default_factory=set)
    _is_new: bool = False

    def __post_init__(self) -> None:
        content = read_private(cache_directory() / "compared", self._name)
        try:
            said: dict[str, Any] = json.loads(content or b"{}")
            for segment, (file, at, checksums) in said.items():
                if 0 <= time.time() - at < DAY:
                    places = {int(place): int(checksum) for place, checksum in checksums.items()}
                    self._known[segment] = _Segment(file, at, places)
        except (ValueError, TypeError, AttributeError):  # nothing is lost by not knowing
            self._known = {}

    def knows(self, segment: str, place: int, checksum: int) -> bool:
        """Whether the chunk there was compared with it, and its file is the same since."""
        found = self._known.get(segment)
        if found is None:
            return False
        if segment not in self._looked_at:
            if self.file(segment) != found.file:
                self._known.pop(segment, None)
                return False
            self._looked_at.add(segment)
        return found.checksums.get(place) == checksum

    def file(self, segment: str) -> list[int] | None:
        """Equal at two times: it is the same file, and wasn't written in between. None: it isn't there."""
        try:
            found = os.stat(os.path.join(self.root, segment))
        except OSError:
            return None
        return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]

    def add(self, segment: str, place: int, checksum: int, file: list[int] | None) -> None:
        """The chunk there is as it says. file: of the segment, before it was read."""
        if file is None:
            return
        known = self._known.get(segment)
        if known is None or known.file != file:
            known = self._known[segment] = _Segment(file, time.time(), {})
        known.checksums[place] = checksum
        self._is_new = True

    def forget(self, segments: Set[str]) -> None:
        """They are compared again."""
        for segment in segments & self._known.keys():
            self._known.pop(segment, None)
            self._is_new = True

    def tell(self) -> None:
        """The next process."""
        if self._is_new:
            known = self._known.copy()  # a merge that is being given up may add to it
            said = {name: (each.file, each.at, each.checksums.copy()) for name, each in known.items()}
            write_private(cache_directory() / "compared", self._name, json.dumps(said).encode())

    @property
    def _name(self) -> str:
        return f"{hashlib.sha256(os.path.abspath(self.root).encode()).hexdigest()}.json"
