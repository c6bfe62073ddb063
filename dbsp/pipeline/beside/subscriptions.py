"""Callbacks after the commit: each is called with every step after its position, in order, at least once.

A callback's position moves only when it has returned. So one that raises, or is interrupted, is called with
the same step again, after the next one is made: what it has seen is always a prefix of the steps.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from dbsp.circuits.errors import StateError
from dbsp.errors import CallbackError
from dbsp.views.changes import Changes, ViewChanges

Callback = Callable[[int, ViewChanges], None]
log = logging.getLogger("dbsp")


@dataclass(eq=False)
class Subscription:
    """A callback of a view. position: the last step that it has had."""

    view: str
    callback: Callback
    position: int
    _all: Subscriptions
    _busy: bool = False

    def stop(self) -> None:
        """It is called no more; a callback may stop its own. A second time does nothing."""
        self._all.remove(self)


class Subscriptions:
    """last: gives the number of the last step. changes: gives a kept step's changes of a view. watchers:
    called when a step was made, and at the end, in the thread that made it.
    """

    def __init__(self, last: Callable[[], int], changes: Callable[[str, int], ViewChanges]) -> None:
        self.last, self.changes = last, changes
        self.watchers: set[Callable[[], None]] = set()
        self._all: list[Subscription] = []
        self._turn = threading.RLock()

    def add(self, view: str, callback: Callback, since: int | None) -> Subscription:
        """Raises StateError where a step after `since` isn't kept, and CallbackError; then it isn't added."""
        added = Subscription(view, callback, self.position(view, since), self)
        with self._turn:
            self._call(added, None)
            self._all.append(added)
        return added

    def remove(self, subscription: Subscription) -> None:
        """Once it has returned, the callback isn't called any more, unless this is asked by it."""
        with self._turn:
            if subscription in self._all:
                self._all.remove(subscription)

    def position(self, view: str, since: int | None) -> int:
        """The last step that somebody has had. Raises StateError where one after it isn't kept."""
        last = self.last()
        position = last if since is None else since
        if not 0 <= position <= last:
            raise StateError(f"since={position}: the last step is {last}; name one that was made, or 0")
        if position < last:
            self.changes(view, position + 1)
        return position

    def wake(self) -> None:
        """Let those who wait see what there is."""
        for watcher in [*self.watchers]:
            watcher()

    def notify(self, made: Changes) -> None:
        """Call all callbacks with what they lack. Raises the first CallbackError after the last call."""
        self.wake()
        failed: list[CallbackError] = []
        with self._turn:
            for subscription in [*self._all]:
                if subscription not in self._all:  # one that was called before has stopped it
                    continue
                try:
                    self._call(subscription, made)
                except CallbackError as error:
                    error.changes = made
                    failed.append(error)
        for other in failed[1:]:
            log.error("%s", other)
        if failed:
            raise failed[0]

    def _call(self, subscription: Subscription, made: Changes | None) -> None:
        if subscription._busy:
            return  # the callback itself made a step, and is called with it when it returns
        view = subscription.view
        subscription._busy = True
        try:
            while subscription.position < self.last() and (made is None or subscription in self._all):
                step = subscription.position + 1
                changes = made[view] if made is not None and made.step == step else self._kept(subscription)
                try:
                    subscription.callback(step, changes)
                except Exception as error:  # it may be anything, and the step is true all the same
                    what = f"{type(error).__name__}: {error}".rstrip(": ")
                    last = self.last()
                    of = "" if step == last else f"; it was called with step {step}, which it hasn't had yet"
                    message = f"step {last} is committed; a callback of view '{view}' raised {what}{of}"
                    raise CallbackError(message, step, view) from error
                subscription.position = step
        finally:
            subscription._busy = False

    def _kept(self, subscription: Subscription) -> ViewChanges:
        view, step = subscription.view, subscription.position + 1
        try:
            return self.changes(view, step)
        except StateError as error:
            self.remove(subscription)
            message = f"{error}; a callback of view '{view}' hasn't had it and isn't called any more"
            raise CallbackError(message, step, view) from error


async def following(
    subscriptions: Subscriptions, view: str, position: int, closed: Callable[[], bool]
) -> AsyncIterator[ViewChanges]:
    """The changes of each step after `position` that has some, until the pipeline is closed.

    What the reader has had is a number, and the next step is read where it lies: so a slow one keeps nothing
    in memory, and none is skipped. Raises StateError where a step isn't kept any more.
    """
    import asyncio  # noqa: PLC0415  TLS and all, which takes a quarter as long to import as Arrow

    made, loop = asyncio.Event(), asyncio.get_running_loop()

    def wake() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(made.set)

    subscriptions.watchers.add(wake)
    try:
        while not closed():
            made.clear()
            while position < subscriptions.last():
                position += 1
                changes = await asyncio.to_thread(subscriptions.changes, view, position)
                if len(changes):
                    yield changes
            if not closed():
                await made.wait()
    finally:
        subscriptions.watchers.discard(wake)
