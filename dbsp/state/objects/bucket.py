"""The objects under one URI, of any store: what state asks of it.

    create    put-if-absent: of two who create one name, one gets Changed
    replace   put-if-unchanged, by the tag of what was read
    send      an object of a unique name: to send it twice is to send it once

Every request is counted. One that may be repeated is, with growing pauses, while the store is throttled or
out of reach.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import IO, TypeVar

from dbsp.circuits.segments.origin import Traffic
from dbsp.state.objects.refusals import Unanswered

_ATTEMPTS = 4
_PAUSE = 0.2

Answer = TypeVar("Answer")
# what one content of an object is known by, of all that its name ever has
Tag = Mapping[str, str]


@dataclass(frozen=True)
class Entry:
    """An object of a folder. stamp: what its name has with this content only."""

    name: str
    size: int
    stamp: str


@dataclass
class Bucket(ABC):
    """uri: `s3://bucket/prefix`, without a slash at its end. traffic: of this process."""

    uri: str
    traffic: Traffic = field(default_factory=Traffic)
    pause: float = field(default_factory=lambda: _PAUSE)
    _counting: Lock = field(default_factory=Lock)

    @property
    def name(self) -> str:
        """Of the bucket, or the cluster, with its scheme."""
        return "/".join(self.uri.split("/")[:3])

    # -- one object ---------------------------------------------------------------------------------

    @abstractmethod
    def get(self, name: str) -> tuple[bytes, Tag]:
        """(content, tag). Raises FileNotFoundError, OSError."""

    @abstractmethod
    def create(self, name: str, data: bytes) -> Tag:
        """The tag of an object where there was none. Raises Changed, Unanswered, OSError."""

    @abstractmethod
    def replace(self, name: str, data: bytes, tag: Tag) -> Tag:
        """The new tag of an object that had that tag. Raises Changed, Unanswered, OSError."""

    # -- files --------------------------------------------------------------------------------------

    @abstractmethod
    def send(self, name: str, file: IO[bytes], size: int) -> None:
        """The file's content, of that size, as an object whose name nobody else has. Raises OSError."""

    @abstractmethod
    def fetch(self, name: str, path: Path) -> None:
        """The object's content as a file. Raises FileNotFoundError, OSError."""

    # -- many ---------------------------------------------------------------------------------------

    @abstractmethod
    def names(self, prefix: str, after: str | None = None) -> Iterator[str]:
        """The names that begin so, ascending; after: those behind that name. Raises OSError."""

    @abstractmethod
    def folder(self, name: str) -> list[str]:
        """The names in a folder, of objects and of folders, ascending. Raises OSError."""

    @abstractmethod
    def entries(self, name: str) -> list[Entry]:
        """The objects in a folder. Raises OSError."""

    @abstractmethod
    def delete(self, names: Iterable[str]) -> None:
        """Those that are there. Raises OSError."""

    # -- requests -----------------------------------------------------------------------------------

    @abstractmethod
    def _refusal(self, error: Exception, name: str) -> OSError | None:
        """What a request for that object raised, as an error of one line; None of what isn't the store's."""

    def _ask(self, request: Callable[[], Answer], name: str, kind: str, attempts: int = _ATTEMPTS) -> Answer:
        for attempt in range(attempts):
            self._count(kind, 1)
            try:
                return request()
            except Exception as error:  # each client has its own; what isn't the store's is raised again
                known = self._refusal(error, name)
                if known is None:
                    raise
                if not isinstance(known, Unanswered) or attempt == attempts - 1:
                    raise known from None
            time.sleep(self.pause * 2**attempt)
        raise AssertionError("no attempt was made")

    def _count(self, what: str, number: int) -> None:
        with self._counting:
            setattr(self.traffic, what, getattr(self.traffic, what) + number)


def last_part(path: str) -> str:
    """What a folder calls it."""
    return path.rpartition("/")[2]
