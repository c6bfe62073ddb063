"""Steps as they are made, for those who follow them: in one thread's loop, though another makes them.

What steps changed is spelled once for all who have had the same steps before.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.following.rounds import Rounds
from dbsp.views.changes import Changes, ViewChanges

Spelled = TypeVar("Spelled")
# of a view's changes of some steps, one after the other
Spell = Callable[[Sequence[tuple[int, ViewChanges]]], Spelled]

# changed rows that are spelled at once, unless one step has more of them
ROWS = 5000
# steps whose changes are at hand, and their rows; a quarter of either that nobody was told of makes a round
_STEPS, _HELD = 256, 1_000_000
# spelled changes that are at hand
_TEXTS = 32


class Feed:
    """Of a pipeline whose every step is told by `made`."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.rounds = Rounds(lambda: pipeline.last_step)
        self._recent: OrderedDict[int, tuple[Changes, int]] = OrderedDict()
        self._held = 0
        self._untold = self._told = 0
        self._texts: OrderedDict[object, asyncio.Future[Any]] = OrderedDict()

    @property
    def ended(self) -> bool:
        """Whether no step comes any more."""
        return self.rounds.ended

    def made(self, changes: Changes) -> None:
        """From any thread."""
        rows = sum(changes.metrics.rows_out.values())
        self._recent[changes.step] = changes, rows
        self._held += rows
        while len(self._recent) > _STEPS or (self._held > _HELD and len(self._recent) > 1):
            self._held -= self._recent.popitem(last=False)[1][1]
        if self._told != self.rounds.seen:
            self._untold, self._told = 0, self.rounds.seen
        self._untold += rows
        full = changes.step - self._told >= _STEPS // 4 or self._untold >= _HELD // 4
        self.rounds.tell(at_once=full)

    async def spelled(
        self, view: str, since: int, until: int | None, form: str, spell: Spell[Spelled]
    ) -> tuple[int, Spelled]:
        """What the steps after one, up to another, changed in a view, and the last of them: of a few at once.

        Raises StateError where the first one isn't kept any more.
        """
        last = self.rounds.seen if until is None else min(until, self.rounds.seen)
        key = view, since, last, form
        found: asyncio.Future[Any] | None = self._texts.get(key)
        if found is None:
            spelling = asyncio.to_thread(lambda: self._spelled(view, since, last, spell))
            self._texts[key] = found = asyncio.ensure_future(spelling)
            while len(self._texts) > _TEXTS:
                self._texts.popitem(last=False)
        try:
            text: tuple[int, Spelled] = found.result() if found.done() else await asyncio.shield(found)
        except Exception:  # raised again: only what succeeded is kept
            self._texts.pop(key, None)
            raise
        return text

    def size(self, view: str, step: int) -> int:
        """How many rows a step changed. Raises StateError where it isn't kept any more."""
        return sum(map(len, self._changes(view, step).parts))

    def _spelled(self, view: str, since: int, last: int, spell: Spell[Spelled]) -> tuple[int, Spelled]:
        some = list(self._some(view, since, last))
        return some[-1][0], spell(some)

    def _some(self, view: str, since: int, last: int) -> Iterator[tuple[int, ViewChanges]]:
        rows = 0
        for step in range(since + 1, last + 1):
            changes = self._changes(view, step)
            rows += sum(map(len, changes.parts))
            if rows > ROWS and step > since + 1:
                return
            yield step, changes

    def _changes(self, view: str, step: int) -> ViewChanges:
        recent = self._recent.get(step)
        return recent[0][view] if recent is not None else self.pipeline.changes_of(view, step)
