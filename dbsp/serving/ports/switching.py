"""The same ports, now with one program's pipeline and then with another's.

Who asks something while one leaves and the other comes waits, and is answered by the new one. Who follows a
view is told that its steps end, and asks again from the step that it has: HTTP's clients by Last-Event-ID.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.types import ASGIApp, Receive, Scope, Send

from dbsp.serving.app import Serving

# seconds for what is being answered when the pipeline leaves
_LEAVING = 70.0


class Switching:
    """serving: what answers. Its methods but `leave` and `enter` are of the loop in which it does."""

    def __init__(self, serving: Serving) -> None:
        self.serving = serving
        self.disconnecting: list[Callable[[], Awaitable[None]]] = []  # of clients that stay connected
        self._answers: ASGIApp = serving.app()
        self._is_there = asyncio.Event()
        self._is_there.set()
        self._inside = 0
        self._emptied = asyncio.Event()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """In which it answers."""
        return self.serving.feed.rounds.loop

    def app(self) -> ASGIApp:
        """What HTTP is answered by."""
        return self

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop in which readers wait."""
        self.serving.attach(loop)

    def end(self) -> None:
        """No step comes any more."""
        self.serving.end()

    async def current(self) -> Serving:
        """What answers, once it is there."""
        await self._is_there.wait()
        return self.serving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._is_there.wait()
        self._inside += 1
        try:
            await self._answers(scope, receive, send)
        finally:
            self._inside -= 1
            if not self._inside:
                self._emptied.set()

    def leave(self) -> None:
        """Nobody asks the pipeline anything from here on. From another thread."""
        asyncio.run_coroutine_threadsafe(self._leave(), self.loop).result()

    def enter(self, serving: Serving) -> None:
        """Who has waited is answered by this one. From another thread."""
        loop = self.loop
        serving.attach(loop)
        answers = serving.app()

        def there() -> None:
            self.serving, self._answers = serving, answers
            self._is_there.set()

        loop.call_soon_threadsafe(there)

    async def _leave(self) -> None:
        self._is_there.clear()
        self.serving.end()
        await asyncio.gather(*(each() for each in self.disconnecting))
        self._emptied.clear()
        if self._inside:
            with suppress(TimeoutError):  # what takes longer is told that the pipeline is closed
                await asyncio.wait_for(self._emptied.wait(), _LEAVING)
