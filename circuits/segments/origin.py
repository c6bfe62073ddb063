"""Where segments are kept that a directory has copies of: an object store, and what asking it comes to."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from operator import add, sub
from typing import Protocol


@dataclass
class Traffic:
    """Requests to another machine, and bytes of objects to it and from it. found, fetched: segments that were
    opened and of which a copy was here, or was brought for that.
    """

    gets: int = 0
    puts: int = 0
    deletes: int = 0
    lists: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    found: int = 0
    fetched: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(*map(add, self._numbers, other._numbers))

    def __sub__(self, other: Traffic) -> Traffic:
        return Traffic(*map(sub, self._numbers, other._numbers))

    @property
    def _numbers(self) -> tuple[int, ...]:
        return tuple(vars(self).values())  # `astuple` copies each of them deeply

    @property
    def requests(self) -> int:
        """Of all kinds."""
        return self.gets + self.puts + self.deletes + self.lists


class Origin(Protocol):
    """Where the segments are kept of which a directory has copies. All raise OSError, and StateError."""

    @property
    def uri(self) -> str:
        """By which a task finds it."""

    @property
    def traffic(self) -> Traffic:
        """Of this process, so far."""

    def fetch(self, segment: str, anew: bool) -> None:
        """Copy it here; anew: the copy that is here is damaged. Raises FileNotFoundError."""

    def send(self, segment: str) -> None:
        """Begin to copy it from here."""

    def settle(self, segments: Set[str] | None) -> None:
        """Wait until they are there, or all whose copying was begun."""

    def used(self, segment: str) -> None:
        """It is opened here."""

    def names(self, prefix: str, after: str | None = None) -> list[str]:
        """The segments whose names begin so; after: and come after that one."""

    def delete(self, segments: Iterable[str]) -> None:
        """There, and the copies here."""
