"""Evaluations that clients wait for: a few at the same time, in threads, within what each may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

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

    async def done_for(self, request: Request, evaluate: Callable[[], Found]) -> Found:
        """The same for a client of HTTP. Raises ClientDisconnect where it leaves."""
        doing = asyncio.ensure_future(self.done(evaluate))
        leaving = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                raise ClientDisconnect
            return await doing
        finally:
            doing.cancel()
            leaving.cancel()

    def _done(self, running: asyncio.Future[Any]) -> None:
        self._free.release()
        if not running.cancelled():
            running.exception()  # it was told, unless nobody waits any more


async def _left(request: Request) -> None:
    """Until its client has; its body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
