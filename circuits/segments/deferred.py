"""What is read of segments when somebody asks for it, and at the latest when they are about to be deleted.

Mapping a file of this machine costs nothing, so there it is done at once: what is mapped stays readable. What
is kept on another machine would be copied from there, and mostly for nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from contextlib import suppress
from threading import Lock
from typing import Generic, TypeVar

from dbsp.circuits.errors import StateError

Read = TypeVar("Read")


class Deferred(Generic[Read]):
    """segments: what `read` reads."""

    def __init__(self, segments: Set[str], read: Callable[[], Read]) -> None:
        self.segments = segments
        self._read: Callable[[], Read] | None = read
        self._found: Read
        self._reading = Lock()

    def get(self) -> Read:
        """Raises StateError, also when it is asked again."""
        with self._reading:
            if self._read is not None:
                self._found = self._read()
                self._read = None
            return self._found

    def save(self) -> None:
        """Read it, since it won't be there any more; where that fails, who asks for it is told."""
        with suppress(StateError):
            self.get()
