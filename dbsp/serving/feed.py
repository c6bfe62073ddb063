"""Steps as they are made, for those who wait for them: in one thread's loop, though another makes them.

A step's changes are spelled out once, however many read them.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TypeVar

from dbsp.pipeline.pipeline import Pipeline
from dbsp.views.changes import Changes, ViewChanges

Spelled = TypeVar("Spelled")

# seconds between signs of life where no step is made
BEAT = 15.0
# steps whose changes are at hand, and texts of a step's changes of a view
_STEPS, _TEXTS = 16, 32


class Feed:
    """Of a pipeline whose every step is told by `made`."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.ended = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._more = asyncio.Event()
        self._recent: OrderedDict[int, Changes] = OrderedDict()
        self._texts: OrderedDict[object, Awaitable[object]] = OrderedDict()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop in which readers wait."""
        self._loop = loop

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        assert self._loop is not None, "nobody listens"
        return self._loop

    def made(self, changes: Changes) -> None:
        """From any thread."""
        self._recent[changes.step] = changes
        while len(self._recent) > _STEPS:
            self._recent.popitem(last=False)
        self.tell()

    def end(self) -> None:
        """No step comes any more: who waits is told."""
        self.ended = True
        self.tell()

    def tell(self) -> None:
        """Who waits has something to look at. From any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        waited, self._more = self._more, asyncio.Event()
        waited.set()

    async def after(self, step: int, seconds: float) -> bool:
        """Wait until there is a step after that one; not for longer than so many seconds."""
        if self.pipeline.last_step <= step and not self.ended:
            await self.told(seconds)  # nothing lies between a look and the wait: the loop is one thread's
        return self.pipeline.last_step > step

    async def told(self, seconds: float) -> bool:
        """Wait until there is something to look at; not for longer than so many seconds."""
        try:
            await asyncio.wait_for(self._more.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def spelled(
        self, view: str, step: int, form: str, spell: Callable[[int, ViewChanges], Spelled]
    ) -> Spelled:
        """What a step changed in a view, in some form. Raises StateError where it isn't kept any more."""
        key = view, step, form
        text = self._texts.get(key)
        if text is None:
            text = asyncio.ensure_future(asyncio.to_thread(lambda: spell(step, self._changes(view, step))))
            self._texts[key] = text
            while len(self._texts) > _TEXTS:
                self._texts.popitem(last=False)
        try:
            return await asyncio.shield(text)  # type: ignore[arg-type]  # of this form
        except Exception:  # raised again: only what succeeded is kept
            self._texts.pop(key, None)
            raise

    def _changes(self, view: str, step: int) -> ViewChanges:
        recent = self._recent.get(step)
        return recent[view] if recent is not None else self.pipeline.changes_of(view, step)
