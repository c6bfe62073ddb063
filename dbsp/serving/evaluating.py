"""Evaluations that clients wait for: a few at the same time, in threads of their own, for so long at most."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dbsp.serving.answers import Refused

# evaluations at the same time, beside the steps; others wait
_AT_ONCE = 2

Found = TypeVar("Found")


@dataclass
class Evaluating:
    """seconds: how long a client waits for rows, at most."""

    seconds: float = 60.0
    _free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def done(self, evaluate: Callable[[], Found]) -> Found:
        """Raises Refused where it takes too long."""
        busy = Refused(503, f"no answer within {self.seconds:.0f} s; ask for less, or later")
        try:
            await asyncio.wait_for(self._free.acquire(), self.seconds)
        except TimeoutError:
            raise busy from None
        # what runs can't be stopped, so that its place is free when it has ended, whoever still waits
        running = asyncio.ensure_future(asyncio.to_thread(evaluate))
        running.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(running), self.seconds)
        except TimeoutError:
            raise busy from None

    def _done(self, running: asyncio.Future[Any]) -> None:
        self._free.release()
        if not running.cancelled():
            running.exception()  # it was told, unless nobody waits any more
