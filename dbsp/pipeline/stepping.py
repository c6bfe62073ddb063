"""What a pipeline makes of what is queued: steps, by the clock, once each."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from datetime import datetime

from dbsp.circuits.errors import Overtaken
from dbsp.circuits.steps.contents import is_pending
from dbsp.circuits.steps.next_wakeup import next_due
from dbsp.errors import DeliveryError
from dbsp.pipeline.beside.subscriptions import Subscriptions
from dbsp.pipeline.steps.micro_batch import MicroBatch, is_committed
from dbsp.pipeline.steps.position import Position
from dbsp.running.observed import Observed
from dbsp.running.runner import Runner
from dbsp.sql.plans.program import Program
from dbsp.state.recording import Unsettled
from dbsp.state.store import Store
from dbsp.views.changes import Changes


class Stepping(ABC):
    """The part of a Pipeline that makes steps. _lock: held by who makes one."""

    program: Program
    store: Store
    runner: Runner
    partitions: int | None
    max_undelivered: int
    _position: Position
    _observed: Observed
    _subscriptions: Subscriptions
    _lock: threading.RLock

    @abstractmethod
    def _open(self) -> None:
        """Raises StateError where the pipeline is closed."""

    @abstractmethod
    def _release(self) -> None:
        """Give the state directory up: another writer has it."""

    @abstractmethod
    def deliver(self) -> None: ...

    @abstractmethod
    def _hand_over(self, may_lag: int) -> None:
        """Write to the sinks, of which one that failed may be so many steps behind. Raises DeliveryError."""

    @property
    def last_step(self) -> int:
        """The number of the last step, 0 before the first.

        Examples:
            >>> p.last_step
            1
        """
        return self.store.last.step if self.store.last else 0

    @property
    def clock(self) -> datetime | None:
        """The clock of the last step.

        Examples:
            >>> p.step(datetime(2024, 1, 1, tzinfo=UTC)).step, p.clock.isoformat()
            (2, '2024-01-01T00:00:00+00:00')
        """
        return self.store.last.clock if self.store.last else None

    def step(
        self,
        clock: datetime | None = None,
        *,
        stream: str = "",
        batch: int | None = None,
        offsets: object = None,
        request: str = "",
        ending: bool = False,
        read: float = 0.0,
    ) -> Changes:
        """Apply what is queued to every view, commit, and deliver the changes to sinks and callbacks.

        Examples:
            >>> p.insert("sale", [(3, "Ada", 4)])
            >>> changes = p.step()
            >>> changes.step, changes["turnover"].rows()
            (2, [({'buyer': 'Ada', 'total': 5}, -1), ({'buyer': 'Ada', 'total': 9}, 1)])

        clock: the step's time, never before the last one's, see `dbsp.running.clock`. ending: see `finish`.
        stream, batch, offsets: which micro-batch of which streaming query this is; it is committed once, see
        `committed`. request: a key that `requested` knows it by. read: seconds that its rows took to come.

        When it raises, nothing has changed and what was queued still is: the step can be tried
        again, or its delta given up with `discard`. But for three errors, after which the step is made:

        DeliveryError with `changes`: a sink has failed. CallbackError: a callback has. KeyboardInterrupt: see
        `last_step`, since it may come at any moment. A pipeline that another writer has overtaken, or that
        can't know whether the step was committed, says so and is closed.
        """
        with self._lock, self._observed.attempt(self.last_step + 1):
            self._open()
            try:
                self._position.settle()
                self.store.check()  # a sink must not be written by two
                self._hand_over(self.max_undelivered - 1)
                partitions = self.partitions or self.runner.partitions
                changes = self._position.step(
                    self.runner, partitions, clock, MicroBatch(stream, batch, offsets, request), ending
                )
            except (Overtaken, Unsettled):
                self._release()  # a run in the background is what makes this step
                raise
            failed, began = None, time.perf_counter()
            try:
                self._hand_over(self.max_undelivered)
            except DeliveryError as error:
                error.changes, failed = changes, error
            if self.program.inserts:
                changes.metrics.phases["deliver"] = time.perf_counter() - began
            if read:
                changes.metrics.phases["read"] = read
            self._observed.made(changes.step, changes.metrics, failed)
        self._subscriptions.notify(changes)
        if failed is not None:
            raise failed
        return changes

    @property
    def due(self) -> datetime | None:
        """When the clock alone would change something; None: nothing waits, or it is the caller's clock.

        Examples:
            >>> p.due is None
            True
        """
        with self._lock:
            self._open()
            self._position.settle()
            last = self.store.last
            if last is None or not last.machine_clock:
                return None
            return next_due(self.program.circuit, self._position.state, self.store.segments)

    def finish(self, clock: datetime | None = None) -> Changes | None:
        """The end of all input: a step after which no view has changes that haven't been emitted.

        Examples:
            >>> p.insert("sale", [(3, "Eve", 1)])
            >>> p.finish()["turnover"].rows(), p.finish()
            ([({'buyer': 'Eve', 'total': 1}, 1)], None)

        None, and no step, where nothing is queued and no TRIGGER or EMIT holds anything back.
        """
        with self._lock:
            self._open()
            position = self._position
            position.settle()
            if position.queue.is_empty and not is_pending(
                self.program.circuit, position.state, self.store.segments
            ):
                self.deliver()
                return None
        return self.step(clock, ending=True)  # whose callbacks may wait for a thread that wants the lock

    def committed(self, stream: str, batch: int) -> bool:
        """Whether that micro-batch is in the state already, so that it must not be applied again.

        Raises StateError where the batch can't follow what the state holds.
        """
        return is_committed(self.store.root, self.store.last, stream, batch)

    def requested(self, request: str) -> int | None:
        """Which step was made under that key, by any process; None: none that the last 100 keys are of.

        Examples:
            >>> p.insert("sale", [(3, "Eve", 1)])
            >>> p.step(request="order 3").step, p.requested("order 3"), p.requested("order 4")
            (2, 2, None)
        """
        with self._lock:
            self._open()
            self._position.settle()
            last = self.store.last
            return last.requests.get(request) if last is not None else None
