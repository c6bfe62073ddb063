"""Evaluations that clients wait for: a few at the same time, in threads, within what each may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dbsp.circuits.allowance import Allowance
from dbsp.circuits.errors import Ended
from dbsp.serving.answers import Refused

# evaluations at the same time, beside the steps; others wait
_AT_ONCE = 2

Found = TypeVar("Found")


@dataclass
class Evaluating:
    """seconds: how long a client waits for rows, at most. bytes: what their evaluation holds, at most."""

    seconds: float = 60.0
    bytes: int = 2 << 30
    _free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def done(self, evaluate: Callable[[], Found]) -> Found:
        """What it gives. Where that takes too long, or the client leaves or cancels, it is ended.

        Raises Refused, and TooMuch.
        """
        busy = Refused(503, f"no answer within {self.seconds:.0f} s; ask for less, or later")
        try:
            await asyncio.wait_for(self._free.acquire(), self.seconds)
        except TimeoutError:
            raise busy from None
        allowance = Allowance(self.seconds, self.bytes)
        # its place is free when it has ended, whoever still waits
        running = asyncio.ensure_future(asyncio.to_thread(allowance.within(evaluate)))
        running.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(running), self.seconds)
        except (TimeoutError, Ended):
            raise busy from None
        finally:
            allowance.end()

    def _done(self, running: asyncio.Future[Any]) -> None:
        self._free.release()
        if not running.cancelled():
            running.exception()  # it was told, unless nobody waits any more
