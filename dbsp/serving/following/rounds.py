"""When those who follow are told: in rounds, so that what they cost stays a small share of the time.

    pause after a round = min(LONGEST, cost of its messages / SHARE)

A pipeline's steps and the messages about them are made by one process, whose threads take turns. So who
follows is told at once where steps are rare, and of several steps in one message where they come faster than
a message to each can be afforded. Nothing is left out: a message says what there is since the last one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

# of a processor's time, what messages may take; measured: a message costs 0.13 ms, and a gigabyte a second
SHARE = 0.04
_MESSAGE, _BYTE = 1.3e-4, 1e-9
# seconds between two rounds, however many follow
LONGEST = 1.0
# seconds between signs of life where nothing happens
BEAT = 15.0


class Rounds:
    """In one thread's loop. position: a number that grows with what there is to tell; read in any thread.

    seen: what it was in the last round. shortest: seconds between two rounds, at least.
    """

    def __init__(self, position: Callable[[], int], shortest: float = 0.0, beat: float = BEAT) -> None:
        self.shortest, self.beat = shortest, beat
        self.seen = position()
        self.ended = False
        self._position = position
        self._loop: asyncio.AbstractEventLoop | None = None
        self._next = asyncio.Event()
        self._wanted, self._waiting = False, 0
        self._timer: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._began = 0.0
        self._cost = self._before = 0.0

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop in which readers wait."""
        self._loop = loop

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        assert self._loop is not None, "nobody listens"
        return self._loop

    def tell(self, at_once: bool = False) -> None:
        """The position has grown. From any thread; costs nothing where nobody waits. at_once: no pause."""
        if self._wanted or (at_once and self._waiting):
            self._wanted = False  # one call is enough, until somebody waits anew
            self._call(self._round if at_once else self._soon)

    def end(self) -> None:
        """Nothing comes any more: who waits is told. From any thread."""
        self.ended = True
        self._call(self._round)

    def sent(self, size: int) -> None:
        """A message of so many bytes went to one who follows."""
        self._cost += _MESSAGE + size * _BYTE

    async def after(self, position: int) -> bool:
        """Wait for a round that has seen more than that. False: a beat passed without, or it is the end."""
        if self.seen > position:
            return True
        self._wanted = True  # before the look, so that whatever is told after it makes a round
        if self._position() > position or self.ended:
            self._soon()
        if self._idle is None:
            self._idle = self.loop.call_later(self.beat, self._wake)
        self._waiting += 1
        try:
            await self._next.wait()
        finally:
            self._waiting -= 1
        return self.seen > position

    def _call(self, function: Callable[[], None]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function)

    def _soon(self) -> None:
        if self._timer is None:
            pause = min(LONGEST, max(self._cost, self._before) / SHARE)
            self._timer = self.loop.call_at(self._began + max(self.shortest, pause), self._round)

    def _round(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._began, self._before, self._cost = self.loop.time(), self._cost, 0.0
        self.seen = self._position()
        self._wake()

    def _wake(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        waited, self._next = self._next, asyncio.Event()
        waited.set()
