"""Standing INSERTs: the changelog of a view, in its shape, written step by step to a table USING a format.

DIR/delivered.json says, per target, which step was written last. A sink that fails undoes no step and
keeps no other sink from getting it; it gets it before anything else happens, unless it may lag. What makes a
step that is written again harmless is for each target to say: `dbsp.pipeline.spark.sinks`, `dbsp.targets`.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dbsp.circuits.errors import StateError
from dbsp.errors import DeliveryError
from dbsp.sql.plans.own_forms import own_form
from dbsp.sql.plans.program import Table
from dbsp.state.records.delivered import Delivery, check_delivered, read_delivered, write_delivered
from dbsp.targets.outlet import Outlet, given_before

if TYPE_CHECKING:
    from dbsp.pipeline.spark.fed import Fed
    from dbsp.targets.function import Sink
    from dbsp.targets.target import Target

log = logging.getLogger("dbsp")

_WRITTEN_NEXT = (
    "the step is committed, and is written before anything else happens; "
    "--max-undelivered N lets a run make N steps meanwhile"
)
# the first wait of a sink that fails, which doubles, and the longest
_SHORTEST, _LONGEST = 0.5, 60.0


@dataclass
class Later:
    """Of each sink that failed, how long it is left alone, and until when."""

    waits: dict[str, float] = field(default_factory=dict)
    until: dict[str, float] = field(default_factory=dict)

    def failed(self, name: str) -> float:
        """Seconds to wait."""
        wait = self.waits[name] = min(2 * self.waits.get(name, _SHORTEST / 2), _LONGEST)
        self.until[name] = time.monotonic() + wait
        return wait

    def succeeded(self, name: str) -> None:
        """The next failure is a first one."""
        self.waits.pop(name, None)
        self.until.pop(name, None)

    def is_early(self, name: str) -> bool:
        """Whether it isn't to be tried yet."""
        return time.monotonic() < self.until.get(name, 0.0)


@dataclass
class Sinks:
    """The sinks of a pipeline's program: the tables that something is inserted into.

    functions: of the tables that a function writes. _delivered: per target, the last step that it has.
    _recorded: what the file says of that. _first: the pipeline's last step before any of its own. _seen: the
    targets that were found to have no later one than they can.
    """

    pipeline: Fed
    functions: Mapping[str, Sink] = field(default_factory=dict)
    _delivered: dict[str, Delivery] = field(default_factory=dict)
    _recorded: dict[str, Delivery] = field(default_factory=dict)
    _later: Later = field(default_factory=Later)
    _seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        program = self.pipeline.program
        root = self.pipeline.store.root
        self._first = self.pipeline.last_step
        self._delivered = read_delivered(root)
        check_delivered(root, self._delivered, self.pipeline.last_step)
        self._recorded = dict(self._delivered)
        names = dict.fromkeys(insert.target for insert in program.inserts)
        self.targets = {name: self._opened(program.tables[name]) for name in names}

    def _opened(self, table: Table) -> Target:
        # few programs write, and each to few formats
        own = own_form(table.format)
        if own is not None:
            from dbsp.pipeline.own_targets import OWN  # noqa: PLC0415

            return OWN[own](self._outlet(table))
        if table.name in self.functions:
            from dbsp.targets.function import FunctionTarget  # noqa: PLC0415

            return FunctionTarget(
                self.pipeline.program, self.pipeline.store, table, self.functions[table.name]
            )
        from dbsp.pipeline.spark.sinks import opened  # noqa: PLC0415

        return opened(self.pipeline, table, self._outlet(table))

    def _outlet(self, table: Table) -> Outlet:
        return Outlet(
            self.pipeline.program,
            self.pipeline.store,
            table,
            lambda: self._writer(table.name),
            lambda: self._latest(table.name),
            lambda: self._see(table.name),
            lambda step: self._given(table.name, step),
            self._delivered.get(table.name, Delivery(0)),
        )

    def catch_up(self, may_lag: int = 0) -> None:
        """Deliver the committed steps that some sink doesn't have. Raises the first DeliveryError.

        may_lag: how many steps a sink may be without, that fails and is tried again later. StateError where
        changes aren't kept any more.
        """
        last = self.pipeline.last_step
        if not self.targets or not last:
            return
        for name in self.targets:
            self._remember(name)
        # before a step of this pipeline, whatever ends it until the target is looked at
        self._note_step(last)
        failed = [error for name in self.targets if (error := self._bring(name, last, may_lag)) is not None]
        self._note_step(last)
        self.pipeline.store.past.lacking = 1 + min(map(self._step_of, self.targets))
        for other in failed[1:]:
            log.error("%s", other)
        if failed:
            raise failed[0]

    @property
    def undelivered(self) -> dict[str, int]:
        """Per sink how many steps it is without. Any thread may ask."""
        last = self.pipeline.last_step
        return {name: max(last - self._step_of(name), 0) for name in self.targets}

    def _bring(self, name: str, last: int, may_lag: int) -> DeliveryError | None:
        """Write to a sink what it doesn't have, step by step, until it fails by more than it may lag."""
        first, kept = self._step_of(name) + 1, self.pipeline.store.unbroken
        if first > last or (last - first < may_lag and self._later.is_early(name)):
            return None
        if first < kept:
            raise StateError(
                f"{self.pipeline.store.root}: steps {first} to {kept - 1} never reached the sinks "
                "and their changes are not kept any more; start from a new state directory"
            )
        for step in range(first, last + 1):
            error = self._deliver(name, step)
            if error is None:
                self._later.succeeded(name)
                if step < last:  # else with those of the others
                    self._note_step(step)
                continue
            again, lag = self._later.failed(name), last - step + 1
            if lag > may_lag:
                error.args = (f"{error}; {_WRITTEN_NEXT}",)
                return error
            log.warning("%s; %d steps are held back, and tried again in %.1f s", error, lag, again)
            return None
        return None

    def _deliver(self, name: str, step: int) -> DeliveryError | None:
        """Write a kept step's changes to a sink."""
        table = self.pipeline.program.tables[name]
        changes = self.pipeline.store.commit_of(step).changes_for(name)
        inserts = [i for i in self.pipeline.program.inserts if i.target == name and changes.get(i.view)]
        try:
            if inserts:
                self.targets[name].write(step, [(insert, changes[insert.view]) for insert in inserts])
        except Exception as error:  # a format is anybody's code, and the step is true all the same
            what = f"table '{name}': step {step} was not written: {self.targets[name].why(error)}"
            failed = DeliveryError(f"{table.location}: {what}", step, name)
            failed.__cause__ = error
            self._remember(name)
            return failed
        self._remember(name)
        before = self._delivered.get(name, Delivery(0))
        self._delivered[name] = replace(before, step=step, directory=self.targets[name].directory)
        return None

    def close(self) -> None:
        """Leave the targets."""
        for target in self.targets.values():
            target.close()

    def _given(self, name: str, step: int) -> int:
        return given_before(self.pipeline.store, self.pipeline.program, name, step, self._delivered)

    def _latest(self, name: str) -> int:
        """The last step that a target can have.

        Steps are committed before they are delivered: what it has, before this pipeline has written to it, is
        of a step that was there when it was opened, or else of a history that was lost.
        """
        if name in self._seen:
            return self.pipeline.last_step
        return self._delivered.get(name, Delivery(0)).bound or self._first

    def _remember(self, name: str) -> None:
        """For the next pipeline, what a target can have that this one hasn't looked at."""
        known = self._delivered.get(name, Delivery(0))
        if known.writer is not None and name not in self._seen:
            self._delivered[name] = replace(known, bound=known.bound or self._first)

    def _see(self, name: str) -> None:
        """It has nothing that was lost; on disk before it gets a step."""
        self._seen.add(name)
        known = self._delivered.get(name, Delivery(0))
        if known.bound:
            self._delivered[name] = replace(known, bound=0)
            self._note()

    def _writer(self, name: str) -> str:
        """By which name the target knows this state directory; on disk before it is used."""
        delivery = self._delivered.get(name, Delivery(0))
        if delivery.writer is None:
            delivery = self._delivered[name] = replace(delivery, writer=secrets.token_hex(8))
            self._note()
        assert delivery.writer is not None
        return delivery.writer

    def _note_step(self, step: int) -> None:
        try:
            self._note()
        except StateError as error:
            what = f"can't note that step {step} was written: {error}"
            raise DeliveryError(what, step, ", ".join(self.targets)) from error

    def _note(self) -> None:
        """Put on disk what was delivered."""
        if self._recorded != self._delivered:
            write_delivered(self.pipeline.store.root, self._delivered, self.pipeline.store.durable)
            self._recorded = dict(self._delivered)

    def _step_of(self, target: str) -> int:
        """The last step that it has."""
        return self._delivered[target].step if target in self._delivered else 0
