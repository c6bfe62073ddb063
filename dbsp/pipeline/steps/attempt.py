"""One try at a step. It is true from the instant at which its commit's record has its name.

Before, all that there is of it are files that begin with its own name, and which nothing refers to. So a try
that ends in any way whatever is settled by one question to the disk: is its record there?
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dbsp.circuits.progress.waterline import to_json
from dbsp.circuits.steps.state import State, TaskResult
from dbsp.pipeline.steps.micro_batch import MicroBatch
from dbsp.running.queue import Queue
from dbsp.sql.plans.program import Program
from dbsp.state.records.commits import CHECKPOINT, Commit
from dbsp.views.outputs import layouts_of_changes


@dataclass
class Attempt:
    """name: what the names of all its files begin with; no other try at any step has the same.

    queue: what it applies. outcome: the record, and the state that it describes; None: there is no record.
    """

    name: str
    queue: Queue
    outcome: tuple[Commit, State] | None = None

    def commit(
        self,
        program: Program,
        step: int,
        clock: datetime | None,
        machine_clock: bool,
        state: State,
        results: list[TaskResult],
        batch: MicroBatch,
        made: tuple[datetime, bool],
        oldest: int,
        last: Commit | None,
    ) -> Commit:
        """What will be true. results: of the step's tasks, which made `state`. made: see `clock.instant`.
        last: the commit before.
        """
        changes: dict[str, list[list[object]]] = {}
        segments = state.segments()
        for result in results:
            for view, chunk in result.changes.items():
                changes.setdefault(view, []).append(chunk.to_json())
                segments.add(chunk.segment)
        return Commit(
            step,
            program.fingerprint,
            state.to_json(program.circuit),
            clock,
            changes,
            frozenset(segments),
            batch.stream,
            batch.number,
            batch.offsets,
            to_json(state.waterlines),
            machine_clock,
            self.name,
            layouts_of_changes(program.circuit),
            instant=made[0],
            driven=made[1],
            oldest=oldest,
            checkpoint=last.checkpoint if last is not None else CHECKPOINT,
            requests=batch.requests(last, step),
            reading=batch.reading(program, last),
        )
