"""A table that this project writes itself, and what its pipeline knows of the steps that are in it."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.errors import ProgramError, StateError
from dbsp.sql.plans.program import DELETED, Program, Table
from dbsp.state.records.delivered import Delivery
from dbsp.state.store import Store
from dbsp.targets.reading import Reading, reading_of
from dbsp.targets.target import Change

# what a table gets once more is then all that its view holds
BEGIN_ANEW = "begin it anew: take it and its INSERT out of the program, put them back, each with --evolve"
# of an upsert, how many of a step's changes are held at a time
_ROWS = 1 << 20


@dataclass(frozen=True)
class Outlet:
    """writer: the name by which the table knows the state directory. latest: the last step that the table can
    have of its history. seen: told that it has no later one. given: the last step before another that changed
    something in the table, as far as steps are kept. before: what it had got when it was opened.
    """

    program: Program
    store: Store
    table: Table
    writer: Callable[[], str]
    latest: Callable[[], int]
    seen: Callable[[], None]
    given: Callable[[int], int]
    before: Delivery

    @cached_property
    def key(self) -> tuple[str, ...]:
        """Columns of the key of an upsert; nothing where the changelog is added."""
        shapes = {insert.shape for insert in self.program.inserts if insert.target == self.table.name}
        return self.table.primary_key if shapes == {"upsert"} else ()

    def check_package(self, module: str, extra: str) -> None:
        """Raises ProgramError where what writes the table isn't installed."""
        if importlib.util.find_spec(module) is None:
            what = f"table '{self.table.name}' needs {module}: pip install 'dbsp[{extra}]'"
            raise ProgramError(f"{self.table.location}: {what}")

    def records(
        self, step: int, changes: Sequence[Change], op: bool | None = None
    ) -> Iterator[pa.RecordBatch]:
        """A step's changes; with a key, of each key one at most. op: whether a last column `__op` says which;
        None: with a key.
        """
        op = bool(self.key) if op is None else op
        for insert, chunks in changes:
            reading = reading_of(self.program, self.store, insert, step, chunks, op)
            if self.key:
                reading = replace(reading, tasks=_tasks(reading))
            for task in range(reading.tasks):
                rows = reading.read(self.store.segments, task)
                if rows.num_rows:
                    yield rows

    def check_writer(self, owner: str, written: int, noted: str, cure: str) -> None:
        """Raises StateError where the table is another's, or has steps that this state lost.

        owner, written: who wrote it last, and which step, as `noted` there says.
        """
        if owner != self.writer():
            raise StateError(
                f"it is another state directory's, or this one went back: {noted} has step {written} of "
                f"writer {owner}, and {self.store.root} is {self.writer()} (a sink that was taken out of the "
                f"program and put back is another writer); {cure}"
            )
        latest = self.latest()
        if written > latest:
            raise StateError(
                f"it is ahead of the state: {noted} has step {written}, and {self.store.root} went on from "
                f"step {latest}, as after a restore; restore it, with {noted}, to step {latest}; or "
                f"{BEGIN_ANEW}, and {cure}"
            )
        self.seen()

    def check_steps(self, step: int, written: int, noted: str, cure: str) -> None:
        """Raises StateError where the table lacks a step that it was given before `step`."""
        given = self.given(step)
        if written < given:
            raise StateError(
                f"it lacks what it was given: {noted} has step {written} of it, and step {given} changed it; "
                "was it restored to an earlier time, or is it another? Give the one that has it; or "
                f"{BEGIN_ANEW}, and {cure}"
            )


def given_before(
    store: Store, program: Program, target: str, step: int, delivered: Mapping[str, Delivery]
) -> int:
    """The last kept step before that one which changed something in a target; 0 for none."""
    views = {insert.view for insert in program.inserts if insert.target == target}
    began = delivered.get(target, Delivery(0)).began
    for before in reversed([kept for kept in store.steps if began < kept < step]):
        with suppress(StateError):  # whose record is damaged: no later step needs it
            if any(store.commit_of(before).changes_for(target).get(view) for view in views):
                return before
    return 0


def held(records: pa.RecordBatch) -> pa.RecordBatch:
    """The records of an upsert that are rows, without their `__op`."""
    there = records.filter(pc.not_equal(records.column(records.num_columns - 1), DELETED))
    return there.select(range(records.num_columns - 1))


def _tasks(reading: Reading) -> int:
    """A task of an upsert reads all chunks, so as few as memory allows."""
    return max(1, math.ceil(sum(chunk.rows for chunk in reading.chunks) / _ROWS))
