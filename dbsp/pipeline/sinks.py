"""Standing INSERTs: the changelog of a view, in its shape, written step by step to a table USING a format.

DIR/delivered.json says, per target, which step was written last. A sink that fails undoes no step and
keeps no other sink from getting it; it gets it before anything else happens. What makes a step that is
written again harmless is for each target to say: `dbsp.pipeline.spark.sinks`, `dbsp.targets.postgres`.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dbsp.circuits.errors import StateError
from dbsp.errors import DeliveryError
from dbsp.sql.plans.program import Table
from dbsp.state.delivered import Delivery, check_delivered, read_delivered, write_delivered
from dbsp.targets.postgres.target import Postgres
from dbsp.targets.target import Target

if TYPE_CHECKING:
    from dbsp.pipeline.spark.fed import Fed

log = logging.getLogger("dbsp")


@dataclass
class Sinks:
    """The sinks of a pipeline's program: the tables that something is inserted into.

    _delivered: per target, the last step that it has. _recorded: what the file says of that.
    """

    pipeline: Fed
    _delivered: dict[str, Delivery] = field(default_factory=dict)
    _recorded: dict[str, Delivery] = field(default_factory=dict)

    def __post_init__(self) -> None:
        program = self.pipeline.program
        root = self.pipeline.store.root
        self._delivered = read_delivered(root)
        check_delivered(root, self._delivered, self.pipeline.last_step)
        self._recorded = dict(self._delivered)
        names = dict.fromkeys(insert.target for insert in program.inserts)
        self.targets = {name: self._opened(program.tables[name]) for name in names}

    def _opened(self, table: Table) -> Target:
        if (table.format or "").lower() == "postgres":
            return Postgres(
                self.pipeline.program,
                self.pipeline.store,
                table,
                lambda: self._writer(table.name),
                lambda: self.pipeline.last_step,
            )
        from dbsp.pipeline.spark.sinks import opened  # noqa: PLC0415  others don't pay for Spark

        return opened(self.pipeline, table)

    def catch_up(self) -> None:
        """Deliver the committed steps that some sink doesn't have. Raises DeliveryError.

        StateError where their changes aren't kept any more.
        """
        last = self.pipeline.last_step
        if not self.targets or not last:
            return
        first = min(self._step_of(target) for target in self.targets) + 1
        kept = self.pipeline.store.steps[0]
        if first < kept:
            raise StateError(
                f"{self.pipeline.store.root}: steps {first} to {kept - 1} never reached the sinks "
                "and their changes are not kept any more; start from a new state directory"
            )
        for step in range(first, last + 1):
            self.deliver(step)

    def deliver(self, step: int) -> None:
        """Write a kept step's changes to all sinks that don't have them. Raises the first DeliveryError."""
        due = [target for target in self.targets if self._step_of(target) < step]
        changes = self.pipeline.store.commit_of(step).changes if due else {}
        failed: list[DeliveryError] = []
        for name in due:
            table = self.pipeline.program.tables[name]
            inserts = [i for i in self.pipeline.program.inserts if i.target == name and changes.get(i.view)]
            try:
                if inserts:
                    self.targets[name].write(step, [(insert, changes[insert.view]) for insert in inserts])
            except Exception as error:  # a format is anybody's code, and the step is true all the same
                what = f"table '{name}': step {step} was not written: {self.targets[name].why(error)}"
                failed.append(DeliveryError(f"{table.location}: {what}", step, name))
                failed[-1].__cause__ = error
            else:
                self._note_of(name, step)
        try:
            self._note()
        except StateError as error:
            what = f"can't note that step {step} was written: {error}"
            raise DeliveryError(what, step, ", ".join(due)) from error
        for other in failed[1:]:
            log.error("%s", other)
        if failed:
            raise failed[0]

    def close(self) -> None:
        """Leave the targets."""
        for target in self.targets.values():
            target.close()

    def _writer(self, name: str) -> str:
        """By which name the target knows this state directory; on disk before it is used."""
        delivery = self._delivered.get(name, Delivery(0))
        if delivery.writer is None:
            delivery = self._delivered[name] = Delivery(
                delivery.step, delivery.directory, secrets.token_hex(8)
            )
            self._note()
        assert delivery.writer is not None
        return delivery.writer

    def _note_of(self, name: str, step: int) -> None:
        before = self._delivered.get(name, Delivery(0))
        self._delivered[name] = Delivery(step, self.targets[name].directory, before.writer)

    def _note(self) -> None:
        """Put on disk what was delivered."""
        if self._recorded != self._delivered:
            write_delivered(self.pipeline.store.root, self._delivered, self.pipeline.store.durable)
            self._recorded = dict(self._delivered)

    def _step_of(self, target: str) -> int:
        """The last step that it has."""
        return self._delivered[target].step if target in self._delivered else 0
