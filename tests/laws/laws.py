"""The laws every program obeys, over (compiled program, run of deltas, way of running it).

A *way* is how the engine is run: nothing of it may show in what the views hold, nor in one byte of the
changelog.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import pyarrow as pa
import pytest

import dbsp.circuits.columns.hashing
import dbsp.circuits.columns.narrow.joining
import dbsp.circuits.columns.sorting
import dbsp.circuits.steps.exchange
import dbsp.circuits.steps.writing
import dbsp.circuits.traces.layout
import dbsp.circuits.traces.narrow.merging
import dbsp.circuits.traces.spine
import dbsp.running.inline
from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.errors import DataError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.steps.state import State
from dbsp.circuits.traces.zset import ZSet
from dbsp.commands.shown.changelog import json_lines
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark.runner import SparkRunner
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program as Compiled
from dbsp.sql.plans.properties.nullability import never_null
from dbsp.targets.function import sink
from dbsp.testing.bags import arrow_values, identity, same_rows
from tests.generators.lateness import Advanced
from tests.generators.programs import Program, Table
from tests.generators.strategies import Change, Contents, Delta, Row, Run, retract_all
from tests.laws.small_steps import set_small
from tests.oracles.oracle import arrow_rows

ALWAYS = 1 << 60
# of the steps of a run, each with a time zone; none where nothing watches the clock
Clocks = Sequence[datetime]


class Oracle(Protocol):
    def views(self, program: Program, contents: Mapping[str, list[Row]]) -> dict[str, list[Row]]: ...


@dataclass(frozen=True)
class Way:
    """small: runs below it are merged at every step (0: none, None: as usual). seed: of the row hashes.

    reopened: the pipeline is closed and opened again before every step. piecemeal: merges of a few rows are
    done in pieces, over several steps, and some of them ahead in a thread, as large ones are; a few letters
    are long text, and a few keys or rows many.
    """

    runner: str = "inline"
    partitions: int = 1
    small: int | None = None
    seed: int = 0
    reopened: bool = False
    piecemeal: bool = False
    spark: Any = field(default=None, compare=False)


PLAIN = Way()
WAYS = {
    "two partitions": Way(partitions=2),
    "seven partitions": Way(partitions=7),
    "every run merged": Way(small=ALWAYS),
    "no small run merged": Way(small=0),
    "reopened": Way(reopened=True),
    "merges in pieces": Way(small=0, piecemeal=True),
    "four-bit hashes": Way(seed=FOUR_BITS),
    "everything at once": Way(partitions=3, small=0, reopened=True, piecemeal=True, seed=FOUR_BITS),
}


@dataclass(frozen=True)
class Case:
    """A program, as text and compiled."""

    program: Program
    compiled: Compiled

    @staticmethod
    def of(program: Program, session: Any) -> Case:
        return Case(program, _compiled(program.text, session))


_COMPILED: dict[str, Compiled] = {}


def _compiled(text: str, session: Any) -> Compiled:
    if text not in _COMPILED:
        _COMPILED[text] = compile_program(text, session=session)
    return _COMPILED[text]


class Running:
    """A pipeline over a directory of its own, run in some way."""

    def __init__(self, case: Case, way: Way = PLAIN) -> None:
        self.case, self.way = case, way
        self._patch = pytest.MonkeyPatch()
        if way.piecemeal:
            for name, value in {"SMALL": 1, "PIECE": 2, "FAN_IN": 2, "WIDE": 1 << 40, "CREDIT": 1}.items():
                self._patch.setattr(dbsp.circuits.traces.spine, name, value)
            self._patch.setattr(dbsp.running.inline, "_WORTH_A_THREAD", 2)
            self._patch.setattr(dbsp.circuits.traces.narrow.merging, "TEXT_BYTES", 4)
            self._patch.setattr(dbsp.circuits.columns.narrow.joining, "_PLAIN_BYTES", 4)
            self._patch.setattr(dbsp.circuits.traces.layout, "_FEW", 0)
            self._patch.setattr(dbsp.circuits.steps.writing, "_LARGE", 1)
            self._patch.setattr(dbsp.circuits.steps.exchange, "_FEW", 0)
            self._patch.setattr(dbsp.circuits.steps.exchange, "_OFTEN", 2)
            self._patch.setattr(dbsp.circuits.columns.sorting, "_FEW", 0)
            self._patch.setattr(dbsp.circuits.columns.hashing, "_ROWS", 2)
        self._directory = tempfile.TemporaryDirectory(prefix="dbsp-law-")
        self._targets: dict[str, dict[Any, Row]] = {each.target: {} for each in case.program.upserts}
        self._program = case.compiled
        if way.seed:
            circuit = replace(case.compiled.circuit, seed=way.seed)
            self._program = replace(case.compiled, circuit=circuit, fingerprint=f"seed {way.seed}")
        self.pipeline = self._open()

    def _open(self) -> Pipeline:
        pipeline = Pipeline(
            self._program,
            state=Path(self._directory.name) / "state",
            runner=self.way.runner,
            partitions=self.way.partitions,
            spark=self.way.spark,
            sinks=[sink(name=name)(partial(upsert, rows)) for name, rows in self._targets.items()],
        )
        # no law is about power failures, and syncing is most of a small step's time
        pipeline.store.durable = False
        if isinstance(pipeline.runner, SparkRunner) and self.way.partitions > 1:
            pipeline.runner._small = 0  # as if every delta were large
        if self.way.small is not None:
            set_small(pipeline, self.way.small)
        return pipeline

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._patch.undo()
        self.pipeline.close()
        self._directory.cleanup()

    def reopen(self) -> None:
        """Close and open the pipeline, if that is its way."""
        if self.way.reopened:
            self.pipeline.close()
            self.pipeline = self._open()

    def step(self, delta: Delta, clock: datetime | None = None, advanced: Advanced | None = None) -> str:
        """Apply the delta; the step's changelog as JSON lines. advanced: where waterlines are moved to."""
        self.reopen()
        for name, changes in delta.items():
            queue(self.pipeline, self.case.program.table(name), changes)
        for (name, i), value in (advanced or {}).items():
            self.pipeline.advance(name, self.case.program.table(name).columns[i].name, value)
        return "\n".join(json_lines(self.pipeline.step(clock)))

    def finish(self) -> str:
        """The end of all input; the changelog of what that emits."""
        self.reopen()
        changes = self.pipeline.finish()
        return "" if changes is None else "\n".join(json_lines(changes))

    def changes(
        self, delta: Delta, clock: datetime | None = None, advanced: Advanced | None = None
    ) -> dict[str, Counter[Any]]:
        """Apply the delta; each view's change as a naive Z-set."""
        self.step(delta, clock, advanced)
        return self.last_changes()

    def last_changes(self) -> dict[str, Counter[Any]]:
        """What the last step changed in each view."""
        return {
            view: naive(self.pipeline.changes_of(view, self.pipeline.last_step).zset)
            for view in self.case.program.outputs
        }

    def rows(self, view: str) -> list[Row]:
        return arrow_values(self.pipeline[view].to_arrow())

    def written(self, target: str) -> list[Row]:
        """The rows of a target that is upserted into, as what has been written to it says."""
        return [*self._targets[target].values()]

    def state_rows(self) -> dict[str, int]:
        """Rows kept, per node that remembers any."""
        nodes = self._program.circuit.nodes
        return {
            f"{i} {nodes[i].operator}": rows
            for i, rows in self.pipeline._position.state.rows().items()
            if rows
        }


def upsert(rows: dict[Any, Row], step: int, view: str, changes: pa.Table) -> None:
    """Write into a target what a step changes: of each changed key its row, or its deletion."""
    for key, value, change in zip(*(column.to_pylist() for column in changes.columns), strict=True):
        if change == "D":
            del rows[key]
        else:
            assert (change == "U") == (key in rows), f"{change} of {key}"
            rows[key] = (key, value)


def queue(pipeline: Pipeline, table: Table, changes: list[Change]) -> None:
    """Queue changes in their order, as a user would: a call per stretch of the same kind."""
    start = 0
    for end in range(1, len(changes) + 1):
        if end == len(changes) or changes[end].kind != changes[start].kind:
            _queue_alike(pipeline, table, changes[start:end])
            start = end


def _queue_alike(pipeline: Pipeline, table: Table, changes: list[Change]) -> None:
    call = {
        "insert": pipeline.insert,
        "retract": pipeline.delete,
        "upsert": pipeline.upsert,
        "delete": pipeline.delete,
    }[changes[0].kind]
    rows = arrow_rows(table, [change.row for change in changes for _ in range(change.weight)])
    if changes[0].kind == "delete":
        rows = rows.select(list(table.key))
    call(table.name, rows)


def naive(delta: ZSet) -> Counter[Any]:
    rows = zip(*(column.to_pylist() for column in delta.rows.columns), strict=True)
    found: Counter[Any] = Counter()
    for row, weight in zip(rows, delta.weights.tolist(), strict=True):
        found[identity(row)] += weight
    return found


# ---- the laws ---------------------------------------------------------------------------------------


def clocked(run: Run, clocks: Clocks) -> Iterator[tuple[int, Delta, datetime | None]]:
    """(step, delta, clock). clocks: of every step; or none."""
    for number, delta in enumerate(run, 1):
        yield number, delta, clocks[number - 1] if clocks else None


def incremental_equals_batch(
    case: Case, run: Run, oracle: Oracle, way: Way = PLAIN, clocks: Clocks = ()
) -> None:
    """After every step every view is its query over the tables, and the sum of its changes."""
    contents = Contents(case.program.tables)
    total: dict[str, Counter[Any]] = {view: Counter() for view in case.program.outputs}
    with Running(case, way) as running:
        for number, delta, clock in clocked(run, clocks):
            changes = running.changes(delta, clock)
            contents.apply(delta, clock)
            held = {table.name: contents.rows(table.name) for table in case.program.tables}
            for view in case.program.outputs:
                total[view].update(changes[view])
                summed = {row: weight for row, weight in total[view].items() if weight}
                assert summed == naive(running.pipeline[view].zset), f"step {number}, {view}: changes"
            for view, expected in oracle.views(case.program.at(clock), held).items():
                found = running.rows(view)
                for i in never_null(case.compiled.views[view], case.compiled.views):
                    assert all(row[i] is not None for row in found), f"{view}, column {i}, {number}"
                difference = same_rows(found, expected)
                told = f"{view} at {clock}: {difference}\n{_told(case, run, held)}"
                assert difference is None, f"step {number}, {told}"


def splitting_changes_nothing(
    case: Case, run: Run, parts: Run, clocks: Clocks = (), of_parts: Clocks = ()
) -> None:
    """However the same changes are cut into steps, the views end up the same. clocks: ending alike."""
    if any(table.timed for table in case.program.tables):
        return  # rows say in which step they came
    assert _final(case, run, clocks) == _final(case, parts, of_parts), _told(case, run)


def empty_gives_empty(case: Case, run: Run, clocks: Clocks = ()) -> None:
    """A step without changes changes no view, whatever went before; the first one sees constants."""
    with Running(case) as running:
        for _, delta, clock in clocked([{}, *run], clocks and [clocks[0], *clocks]):
            running.step(delta, clock)
            assert running.step({}, clock) == "", _told(case, run)


def retracting_all_leaves_nothing(case: Case, run: Run, clocks: Clocks = ()) -> None:
    """Views and state are as if nothing had ever been inserted."""
    if any(table.append_only for table in case.program.tables):
        return
    contents = Contents(case.program.tables)
    with Running(case, Way(small=ALWAYS)) as running, Running(case, Way(small=ALWAYS)) as untouched:
        end = clocks[-1] if clocks else None
        untouched.step({}, end)
        for _, delta, clock in clocked(run, clocks):
            running.step(delta, clock)
            contents.apply(delta)
        running.step(retract_all(contents), end)
        for view in case.program.outputs:
            assert running.rows(view) == untouched.rows(view), f"{view}\n{_told(case, run)}"
        assert running.state_rows() == untouched.state_rows(), _told(case, run)


def the_way_changes_no_byte(case: Case, run: Run, way: Way, clocks: Clocks = ()) -> None:
    """Partitions, merges, reopening, collisions, the runner: the changelog is the same, byte by byte.

    And so are the views, also as of each step that is kept.
    """
    held: dict[tuple[str, int], str] = {}
    with Running(case) as plain, Running(case, way) as other:
        for number, delta, clock in clocked(run, clocks):
            expected, found = plain.step(delta, clock), other.step(delta, clock)
            assert found == expected, f"step {number}\n{_told(case, run)}"
            held |= {(view, number): repr(plain.pipeline[view].rows()) for view in case.program.outputs}
        for (view, number), rows in held.items():
            found = repr(other.pipeline.view(view, as_of=number).rows())
            assert found == rows, f"{view} as of step {number}\n{_told(case, run)}"


def a_failing_step_changes_nothing(case: Case, run: Run, way: Way = PLAIN) -> None:
    """A delta with a row that can't be retracted raises; then everything goes on as if it hadn't been."""
    bags = [t for t in case.program.tables if not t.key and not t.append_only]
    if not bags:
        return
    contents = Contents(case.program.tables)
    with Running(case) as plain, Running(case, way) as tried:
        for delta in run:
            bag = bags[len(contents.rows(bags[0].name)) % len(bags)]
            expected = plain.step(delta)
            before = tried.pipeline._position.state
            bad = _impossible(bag, contents, delta)
            for name, changes in bad.items():
                queue(tried.pipeline, case.program.table(name), changes)
            with pytest.raises(DataError, match=f"table '{bag.name}'"):
                tried.pipeline.step()
            assert _places(tried.pipeline._position.state) == _places(before)
            tried.pipeline.discard()
            contents.apply(delta)
            assert tried.step(delta) == expected, _told(case, run)


def _impossible(bag: Table, contents: Contents, delta: Delta) -> Delta:
    """The delta, and one retraction more of some row than there will be copies."""
    held = Contents(contents.tables.values())
    held.held = {name: dict(rows) for name, rows in contents.held.items()}
    held.apply(delta)
    rows = held.rows(bag.name)
    row = rows[0] if rows else tuple(None if c.nullable else _any_value(c.type) for c in bag.columns)
    count = sum(identity(other) == identity(row) for other in rows)
    return {**delta, bag.name: [*delta.get(bag.name, []), Change("retract", row, count + 1)]}


def _any_value(kind: str) -> Any:
    from tests.generators.values import DOMAINS  # noqa: PLC0415

    return DOMAINS[kind][0]


def _places(state: State) -> list[Chunk]:
    return sorted((c for spine in state.spines.values() for c in spine.chunks()), key=repr)


def _final(case: Case, run: Run, clocks: Clocks) -> dict[str, str]:
    with Running(case) as running:
        for _, delta, clock in clocked(run or [{}], clocks):
            running.step(delta, clock)
        return {view: repr(running.pipeline[view].rows()) for view in case.program.outputs}


def _told(case: Case, run: Run, held: Any = None) -> str:
    """The case, to be pasted into a test."""
    steps = "\n".join(f"  {number}: {delta}" for number, delta in enumerate(run, 1))
    return f"{case.program.text}{steps}\n" + (f"tables: {held}" if held is not None else "")
