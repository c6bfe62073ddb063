"""Where a pipeline stands: the state after its last step, and what is queued for the next one.

Memory follows the disk. Whatever ends an attempt at a step, an error or an interrupt between any two
instructions, `settle` asks the disk whether the step is true, and makes what is here follow.
"""

from __future__ import annotations

import logging
import secrets
import time
from dataclasses import dataclass, field, replace
from datetime import datetime

from dbsp.circuits.errors import AbsentRow, EvaluationError, StateError
from dbsp.circuits.steps.cancelling import cancelled
from dbsp.circuits.steps.state import State, TaskResult
from dbsp.circuits.steps.task import Step
from dbsp.pipeline.steps.attempt import Attempt
from dbsp.pipeline.steps.micro_batch import MicroBatch
from dbsp.running.clock import in_zone, instant, moment
from dbsp.running.metrics import Metrics
from dbsp.running.queue import Queue
from dbsp.running.runner import Runner, Work
from dbsp.sql.plans.program import Program
from dbsp.state.recording import Unsettled
from dbsp.state.store import Store
from dbsp.views.changes import Changes
from dbsp.views.outputs import changes_of, output_views, state_of

log = logging.getLogger("dbsp")


@dataclass
class Position:
    """queue: of the next step."""

    program: Program
    store: Store
    queue: Queue = field(default_factory=Queue)
    _reached: tuple[int, State] = field(init=False)
    _tried: Attempt | None = None
    _attempts: int = 0
    _token: str = field(default_factory=lambda: secrets.token_hex(4))

    def __post_init__(self) -> None:
        last = self.store.last
        self._reached = (last.step if last is not None else 0), state_of(self.program, last)

    @property
    def state(self) -> State:
        """After the last step."""
        return self._reached[1]

    @property
    def reached(self) -> tuple[int, State]:
        """The last step and the state after it, of one moment, for any thread."""
        return self._reached

    def step(
        self, runner: Runner, partitions: int, clock: datetime | None, batch: MicroBatch, ending: bool
    ) -> Changes:
        """Make a step: when this returns it is wholly there, when this raises it wholly isn't.

        But for an interrupt, which is raised after the commit, too. And Unsettled: the disk doesn't say.
        """
        began, before = time.perf_counter(), self.store.segments.traffic
        program, store = self.program, self.store
        clock, of_machine = self._moment(clock)
        step = (store.last.step if store.last else 0) + 1
        self._attempts += 1
        # of one width: what one attempt has written is known by how its name begins
        tried = Attempt(f"{step:012d}-{self._token}-{self._attempts:08d}", self.queue)
        asked = Step(
            number=step,
            state=self.state,
            segment=tried.name,
            clock=clock,
            partitions=partitions,
            durable=store.durable,
            ending=ending,
            advances=dict(tried.queue.advances),
        )
        inputs = tried.queue.inputs
        work = Work(circuit=program.circuit, step=asked, inputs=inputs, segments=store.segments)
        self._tried = tried
        planned = ran = time.perf_counter()
        try:
            results = self._run(runner, work)
            ran = time.perf_counter()
            state = self.state.apply(results)
            batch = batch.or_last(store.last)
            made = instant(clock, of_machine, store.last)
            oldest = store.oldest_with(step, *made)
            commit = tried.commit(
                program, step, clock, of_machine, state, results, batch, made, oldest, store.last
            )
            # before the commit, since mapping a file can fail
            views = {view: changes_of(program, commit, view, store, True) for view in output_views(program)}
            tried.outcome = commit, state
            store.commit(commit)
            self.settle()
        except Unsettled:
            raise
        except BaseException as error:
            if not self.settle() or not isinstance(error, Exception):
                raise
            log.warning("step %d is committed, though something failed after that: %s", step, error)
        phases = {"plan": planned - began, "tasks": ran - planned, "commit": time.perf_counter() - ran}
        metrics = Metrics.of(program.circuit, state, results, phases, store.segments.traffic - before)
        return Changes(step, clock, views, metrics)

    def hold_clock(self) -> datetime | None:
        """The clock of the next step, unless it is given another; read now, if it is the machine's."""
        clock, of_machine = self._moment(None)
        self.queue.clock = clock if of_machine else None
        return clock

    def _moment(self, given: datetime | None) -> tuple[datetime | None, bool]:
        """See `clock.moment`."""
        given, timed = in_zone(given, self.program.timezone), self.program.circuit.is_timed
        clock, of_machine = moment(given, self.store.last, timed)
        return (self.queue.clock or clock) if of_machine else clock, of_machine

    def settle(self) -> bool:
        """Whether the last attempt at a step is true; then it is the state's. Raises Unsettled.

        Every line may be the last to be run: then all are run again before anything else happens.
        """
        tried = self._tried
        if tried is None:
            return True
        true = tried.outcome is not None and self.store.settle(tried.outcome[0])
        if true:
            assert tried.outcome is not None
            commit, state = tried.outcome
            self._reached, self.queue = (commit.step, state), Queue()
            # what was staged for the step, by the runner too
            self.store.discard({f"{tried.name}.input", *tried.queue.segments})
        else:
            self.store.discard_attempt(tried.name)
        self._tried = None
        return true

    def discard(self) -> None:
        """Forget what is queued."""
        self.settle()
        queue, self.queue = self.queue, Queue()
        self.store.discard(queue.segments)

    def _run(self, runner: Runner, work: Work) -> list[TaskResult]:
        try:
            try:
                return runner.run(work)
            except EvaluationError:
                # what is inserted and deleted in one step may have gone to different tasks
                inputs = (
                    cancelled(work.circuit, work.inputs, work.segments) if work.step.partitions > 1 else None
                )
                if inputs is None:
                    raise
                self.store.discard_attempt(work.step.segment)
                return runner.run(replace(work, inputs=inputs))
        except AbsentRow as error:
            raise error.within(f"step {work.step.number}") from None
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            why = error.strerror or error
            raise StateError(
                f"{self.store.root}: step {work.step.number} was not made: {why}{where}"
            ) from error
