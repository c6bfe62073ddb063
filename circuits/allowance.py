"""What an evaluation may take: until when, and how many bytes. It asks, often, whether it may go on.

A thread can't be stopped from outside; so what runs for somebody who waits looks here between two operators,
two functions, two blocks of a join. A step has no allowance: it takes what it needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

from dbsp.circuits.errors import Ended, TooMuch

Found = TypeVar("Found")
_MEGABYTE = 1 << 20


class Allowance:
    """seconds: from now on. bytes: of what is computed and kept at the same time."""

    def __init__(self, seconds: float, bytes_: int) -> None:
        self._until, self.bytes, self._ended = time.monotonic() + seconds, bytes_, False

    def end(self) -> None:
        """Nobody waits any more. From any thread."""
        self._ended = True

    def within(self, run: Callable[[], Found]) -> Callable[[], Found]:
        """The same, to be run in any thread, which asks this one. It raises Ended or TooMuch."""
        context = copy_context()
        context.run(_CURRENT.set, self)
        return lambda: context.run(run)

    def check(self, bytes_: int) -> None:
        if self._ended or time.monotonic() > self._until:
            raise Ended("ended: nobody waits for it any more")
        if bytes_ > self.bytes:
            needed, most = (f"{-(-one // _MEGABYTE):,} MB" for one in (bytes_, self.bytes))
            raise TooMuch(f"this takes {needed} at a time, and may take {most}; ask for less")


_CURRENT: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


def may_go_on(bytes_: int = 0) -> None:
    """Raises Ended where nobody waits for what is evaluated here, TooMuch where these bytes are too many."""
    allowance = _CURRENT.get()
    if allowance is not None:
        allowance.check(bytes_)


def current_allowance() -> Allowance | None:
    """Of what is evaluated here; None: nobody waits for it, as for a step."""
    return _CURRENT.get()


def has_allowance() -> bool:
    """Whether somebody waits for what is evaluated here: it is no step."""
    return _CURRENT.get() is not None
