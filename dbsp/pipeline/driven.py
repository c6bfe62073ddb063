"""Steps of what the sources of the tables have, in this thread or in one of their own."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

from dbsp.circuits.errors import StateError
from dbsp.pipeline.beside.background import Background
from dbsp.sql.plans.program import Program
from dbsp.views.changes import Changes

if TYPE_CHECKING:
    from dbsp.pipeline.spark.runs.streaming import Run


class Driven(ABC):
    """The part of a Pipeline that its sources drive. behind, away: a run's answers to `unread` and
    `absent_sources`.
    """

    program: Program
    behind: Callable[[], dict[str, tuple[int, str]]]
    away: Callable[[], dict[str, str]]
    _background: Background | None

    @abstractmethod
    def _open(self) -> None:
        """Raises StateError where the pipeline is closed."""

    @abstractmethod
    def _run_of(self, on_step: Callable[[Changes], None] | None, stop: threading.Event) -> Run:
        """A run of the pipeline's sources. Raises ProgramError where it has none."""

    def run(
        self,
        *,
        once: bool = False,
        every: float | None = None,
        on_step: Callable[[Changes], None] | None = None,
    ) -> int:
        """Step through what the sources of the tables have, into the sinks; returns how many steps that took.

        once: until the sources are exhausted, else until interrupted. every: seconds between steps, at
        least. What a step raises ends the run; see `step` for what is true then.
        """
        return self._run_of(on_step, threading.Event()).run(once, every)

    def start(self, *, every: float | None = None, on_step: Callable[[Changes], None] | None = None) -> None:
        """The same in a thread of its own, until `stop`: views can be read meanwhile, tables written.

        p.start()
        p["turnover"].lookup("Ada")
        p.stop()
        """
        self._open()
        if self.running:
            raise StateError(f"{self.program.name}: it runs already; `stop` it first")
        stop = threading.Event()
        run = self._run_of(on_step, stop)
        self._background = Background(lambda: run.run(once=False, every=every), stop)

    def stop(self) -> int:
        """End what `start` began, after the step that is being made; returns how many steps it took.

        Examples:
            >>> p.stop()
            0

        Raises what ended it before: its steps are as `run` leaves them. 0 where nothing was started. Not for
        `on_step` or a callback to call: the step waits for them.
        """
        background, self._background = self._background, None
        return 0 if background is None else background.stop()

    @property
    def running(self) -> bool:
        """Whether what `start` began makes steps still; what ended it is for `stop` to raise.

        Examples:
            >>> p.running
            False
        """
        return self._background is not None and self._background.running

    @property
    def unread(self) -> dict[str, tuple[int, str]]:
        """Per table how much its source has that no step has read: (12, 'messages') of Kafka, (3, 'files').

        Examples:
            >>> p.unread
            {}

        Of other sources nothing is known, nor of any while nothing runs.
        """
        return self.behind()

    @property
    def absent_sources(self) -> dict[str, str]:
        """Per table whose source doesn't answer, why: nothing comes of it, and steps are made of the others.

        Examples:
            >>> p.absent_sources
            {}

        Known of Kafka's brokers that are read without Spark's planning, while a run goes on.
        """
        return self.away()
