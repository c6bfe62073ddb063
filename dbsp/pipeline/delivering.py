"""What a pipeline tells others of its steps: sinks, and who subscribes to a view."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, overload

from dbsp.circuits.errors import Error
from dbsp.pipeline.beside.subscriptions import Callback, Subscription, Subscriptions, following
from dbsp.sql.plans.program import Program
from dbsp.views.changes import ViewChanges
from dbsp.views.outputs import output_view

if TYPE_CHECKING:
    from dbsp.pipeline.sinks import Sinks

log = logging.getLogger("dbsp")


class Delivering(ABC):
    """The part of a Pipeline that delivers.

    _lock: held by who makes a step. _sinks: None until the first delivery.
    """

    program: Program
    max_undelivered: int
    _sinks: Sinks | None
    _subscriptions: Subscriptions
    _lock: threading.RLock
    _closed: bool

    @abstractmethod
    def _open(self) -> None:
        """Raises StateError where the pipeline is closed."""

    @abstractmethod
    def _open_sinks(self) -> Sinks:
        """Of the pipeline's program."""

    def deliver(self) -> None:
        """Write to the sinks what they haven't got of the steps so far. Raises DeliveryError.

        Examples:
            >>> p.deliver()  # nothing: the program writes to no sink

        Steps do it themselves; one whose changes never reached a sink, by a crash or the sink's failure, is
        delivered when the directory is next opened, or before the next step.
        """
        self._hand_over(0)

    def redeliver(self) -> None:
        """The same, but for sinks that failed and may lag: those are tried again when it is time."""
        self._hand_over(self.max_undelivered)

    @property
    def undelivered(self) -> dict[str, int]:
        """Per sink how many of the steps so far it is without. Before the first delivery nothing is known.

        Examples:
            >>> p.undelivered
            {}
        """
        return {} if self._sinks is None else self._sinks.undelivered

    @overload
    def subscribe(self, view: str, callback: Callback, since: int | None = None) -> Subscription: ...
    @overload
    def subscribe(self, view: str, *, since: int | None = None) -> AsyncIterator[ViewChanges]: ...
    def subscribe(
        self, view: str, callback: Callback | None = None, since: int | None = None
    ) -> AsyncIterator[ViewChanges] | Subscription:
        """Call `callback(step, changes)` with the view's changes of every step to come, in this thread.

        since: the last step that it has had already, 0 for none: the kept steps after it are caught up with
        now. A callback may rely on this: it is called with every step, in order, after the step was
        committed, and at least once: if it raises, or is interrupted, it is called with the same step again
        after the next one is made; after a restart, from where `since` says. Others are called all the same.
        What it raises is a CallbackError: its message names the step that was just made, and its `step` is
        the one that it was called with; here too, and then it isn't subscribed. `stop()` of what is returned
        ends it. Raises StateError where the steps after `since` aren't kept any more (see `keep_steps`).

        Examples:
            >>> ours = p.subscribe("turnover", lambda step, changes: print(step, changes.rows()), since=0)
            1 [({'buyer': 'Ada', 'total': 5}, 1), ({'buyer': 'Bob', 'total': 7}, 1)]
            >>> p.delete("sale", [(1, "Ada", 5)])
            >>> made = p.step()
            2 [({'buyer': 'Ada', 'total': 5}, -1)]
            >>> ours.stop()

        Without a callback: an asynchronous iterator of the changes of each step that has some, by any thread;
        it ends when the pipeline is closed.

            async for changes in p.subscribe("turnover"):
                print(changes.step, changes.rows())
        """
        self._open()
        name = output_view(self.program, view)
        if callback is not None and not callable(callback):
            raise Error(f"subscribe: {callback!r} can't be called; give a function of (step, changes)")
        if callback is not None:
            return self._subscriptions.add(name, callback, since)
        position = self._subscriptions.position(name, since)
        return following(self._subscriptions, name, position, lambda: self._closed)

    def _hand_over(self, may_lag: int) -> None:
        if not self.program.inserts:
            return
        with self._lock:
            self._open()
            if self._sinks is None:
                self._sinks = self._open_sinks()
            self._sinks.catch_up(may_lag)

    def _resume(self) -> None:
        try:
            self.deliver()
        except Error as error:  # the views can be read all the same
            log.warning("%s; tried again before the next step", error)
