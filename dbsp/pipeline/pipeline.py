"""The pipeline: a program, its state directory, and the deltas queued for the next step."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import AbsentRow, DataError, Error, StateError
from dbsp.circuits.progress.waterline import to_json
from dbsp.circuits.steps.contents import is_pending
from dbsp.circuits.steps.next_wakeup import next_due
from dbsp.circuits.steps.state import State, TaskResult
from dbsp.circuits.traces.segments import Chunk
from dbsp.pipeline.udf import Function
from dbsp.rows.incoming import key_rows, whole_rows
from dbsp.running.clock import moment
from dbsp.running.inline import InlineRunner
from dbsp.running.metrics import Metrics
from dbsp.running.queue import Queue
from dbsp.running.runner import Runner, Work
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.program import Program, Table
from dbsp.state.commits import Commit
from dbsp.state.store import RETAIN, Identity, Store
from dbsp.views.changes import Changes, ViewChanges
from dbsp.views.outputs import changes_of, contents_of, output_view, output_views, state_of
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Callback = Callable[[int, ViewChanges], None]


class Pipeline:
    """Deltas in, changes of all views out, step by step.

    program: a file, or a compiled Program; or sql: the text itself. state: the directory to keep state in,
    and to go on from if it is there; without one, state ends with the pipeline. runner: 'spark' or 'inline'.
    partitions: over how many tasks a large step is spread. retain: how many steps stay readable.
    functions: what `dbsp.udf` and `dbsp.udaf` made, for the program to call.
    """

    def __init__(
        self,
        program: str | Path | Program | None = None,
        *,
        sql: str | None = None,
        state: str | Path | None = None,
        spark: SparkSession | None = None,
        partitions: int | None = None,
        runner: str = "spark",
        define: Mapping[str, str] | None = None,
        retain: int = RETAIN,
        functions: Sequence[Function] = (),
    ) -> None:
        if (program is None) == (sql is None):
            raise Error(
                'a pipeline has either a program file or sql: Pipeline("program.sql") or Pipeline(sql="...")'
            )
        _check_names(program, sql)
        if spark is not None and not hasattr(spark, "_jsparkSession"):
            raise Error(
                "spark= is no classic SparkSession; one of Spark Connect can't run the tasks of a step"
            )
        if runner not in ("spark", "inline"):
            raise Error(f"unknown runner '{runner}'; runners: spark, inline")
        if partitions is not None and partitions < 1:
            raise Error(f"partitions={partitions}: needs at least 1")
        # first, so that a program that isn't in the cache is compiled in the session that will run it
        self.runner: Runner = _runner(runner, spark)
        declared = [function.declared for function in functions]
        if isinstance(program, Program):
            self.program = program
        elif program is not None:
            self.program = load_program(Path(program), define=define, session=spark, functions=declared)
        else:
            assert sql is not None
            self.program = load_program(sql + "\n", define=define, session=spark, functions=declared)
        self.spark = spark
        self.partitions = partitions
        program = self.program
        identity = Identity(
            program.name, program.fingerprint, program.text, program.timezone, program.functions
        )
        self.store = (
            Store.temporary(identity, retain) if state is None else Store.open(state, identity, retain)
        )
        try:
            self._state = state_of(self.program, self.store.last)
        except BaseException:
            self.store.close()
            raise
        self._queue = Queue()
        self._callbacks: dict[str, list[Callback]] = {}
        self._token = secrets.token_hex(4)
        self._attempt = 0
        self._closed = False
        self._lock = threading.RLock()

    # -- deltas -------------------------------------------------------------------------------------

    def insert(self, table: str, rows: object) -> None:
        """Queue rows for the next step. In a keyed table a row of a present key replaces it."""
        self._take(self.program.input(table), rows, 1)

    def delete(self, table: str, rows: object) -> None:
        """Queue retractions: a copy per row of a bag; of a keyed table, by keys or rows that have them."""
        target = self.program.input(table)
        if target.append_only:
            raise DataError(
                f"table '{target.name}' is append-only; declare it without append_only to delete from it"
            )
        self._take(target, rows, -1)

    def upsert(self, table: str, rows: object) -> None:
        """Queue rows of a keyed table, replacing those with the same keys."""
        target = self.program.input(table)
        if not target.primary_key:
            raise DataError(f"table '{target.name}' has no PRIMARY KEY, so nothing to upsert by; use insert")
        self._take(target, rows, 1)

    def change(self, table: str, rows: pa.RecordBatch | Chunk, weights: np.ndarray | None = None) -> None:
        """Queue a delta that is known to fit: rows of the table's schema and their int64 weights.

        Without weights: a batch, or a chunk in the state's segments, whose last column is `__weight`. In a
        keyed table weight 1 is an upsert, −1 a delete by key, and rows apply in order.
        """
        with self._lock:
            self._open()
            self._queue.add(self.program.input(table).name, rows, weights)

    def discard(self) -> None:
        """Forget what is queued, as after a step that can't succeed."""
        with self._lock:
            self.store.discard(self._queue.segments)
            self._queue = Queue()

    @property
    def queued(self) -> dict[str, int]:
        """Rows waiting for the next step, per table."""
        return self._queue.rows

    def _take(self, table: Table, rows: object, weight: int) -> None:
        self._open()
        if type(rows).__module__.startswith("pyspark."):
            from dbsp.pipeline.spark.staging import stage  # noqa: PLC0415  only who has a DataFrame pays for Spark

            for chunk in stage(self, table, rows, weight):
                self.change(table.name, chunk)
            return
        if weight < 0 and table.primary_key:
            batch = key_rows(table, rows, self.program.timezone)
        else:
            batch = whole_rows(table, rows, self.program.timezone, retracted=weight < 0)
        if batch.num_rows:
            self.change(table.name, batch, np.full(batch.num_rows, weight, np.int64))

    # -- steps --------------------------------------------------------------------------------------

    @property
    def last_step(self) -> int:
        """The number of the last step, 0 before the first."""
        return self.store.last.step if self.store.last else 0

    @property
    def clock(self) -> datetime | None:
        """The clock of the last step."""
        return self.store.last.clock if self.store.last else None

    def step(
        self,
        clock: datetime | None = None,
        *,
        stream: str = "",
        batch: int | None = None,
        offsets: object = None,
        ending: bool = False,
    ) -> Changes:
        """Apply what is queued to every view, and commit.

        clock: the step's time, never before the last one's, see `dbsp.running.clock`. ending: see `finish`.
        stream, batch, offsets: which micro-batch of which streaming query this is; it is committed once, see
        `committed`. When it raises, nothing has changed and what was queued still is: the step can be tried
        again, or its delta given up with `discard`.
        """
        with self._lock:
            self._open()
            began = time.perf_counter()
            clock, of_machine = moment(self._in_zone(clock), self.store.last, self.program.circuit.is_timed)
            step = self.last_step + 1
            self._attempt += 1
            segment = f"{step:012d}-{self._token}-{self._attempt}"
            try:
                try:
                    results = self._run(step, clock, segment, ending)
                except AbsentRow as error:
                    raise error.within(f"step {step}") from None
                state = self._state.apply(results)
                commit = self._commit(step, clock, state, results)
                commit = replace(commit, machine_clock=of_machine)
                commit = _of_batch(commit, self.store.last, stream, batch, offsets)
                self.store.commit(commit)
            except BaseException:
                self.store.discard_attempt(segment)
                raise
            self._state = state
            self.store.discard([f"{segment}.input"])  # what the runner put aside for its tasks
            self.discard()
            views = {
                view: changes_of(self.program, commit, view, self.store)
                for view in output_views(self.program)
            }
            metrics = Metrics.of(self.program.circuit, state, results, time.perf_counter() - began)
            changes = Changes(step, clock, views, metrics)
        for view, callbacks in self._callbacks.items():
            for callback in callbacks:
                callback(step, changes[view])
        return changes

    @property
    def due(self) -> datetime | None:
        """When the clock alone would change something; None: nothing waits, or it is the caller's clock."""
        with self._lock:
            self._open()
            last = self.store.last
            if last is None or not last.machine_clock:
                return None
            return next_due(self.program.circuit, self._state, self.store.segments)

    def finish(self, clock: datetime | None = None) -> Changes | None:
        """The end of all input: a step after which no view has changes that haven't been emitted.

        None, and no step, where nothing is queued and no TRIGGER or EMIT holds anything back.
        """
        with self._lock:
            self._open()
            if not self._queue.rows and not is_pending(
                self.program.circuit, self._state, self.store.segments
            ):
                return None
            return self.step(clock, ending=True)

    def committed(self, stream: str, batch: int) -> bool:
        """Whether that micro-batch is in the state already, so that it must not be applied again.

        Raises StateError where the batch can't follow what the state holds.
        """
        last = self.store.last
        if last is None or last.batch is None:
            return False
        if last.stream != stream:
            raise StateError(
                f"{self.store.root}: was fed by another streaming query ({last.stream}, not {stream}); "
                "use the checkpoint it was made with, or a new state directory"
            )
        if batch > last.batch + 1:
            raise StateError(
                f"{self.store.root}: is behind its checkpoint (batch {last.batch} is here, {batch} comes "
                "next); restore both from the same moment"
            )
        return batch <= last.batch

    def subscribe(self, view: str, callback: Callback) -> None:
        """After each commit, call `callback(step, changes)` with the view's changes, in this thread."""
        self._callbacks.setdefault(self._view(view), []).append(callback)

    def run(
        self,
        *,
        once: bool = False,
        every: float | None = None,
        on_step: Callable[[Changes], None] | None = None,
    ) -> int:
        """Step through what the sources of the tables have, into the sinks; returns how many steps that took.

        once: until the sources are exhausted, else until interrupted. every: seconds between steps, at
        least. What a step raises ends the run, with the state as the step before left it.
        """
        from dbsp.pipeline.spark.streaming import run  # noqa: PLC0415

        return run(self, once=once, every=every, on_step=on_step)

    def _run(self, step: int, clock: datetime | None, segment: str, ending: bool) -> list[TaskResult]:
        partitions = self.partitions or self.runner.partitions
        work = Work(
            self.program.circuit,
            self._state,
            self._queue.inputs,
            self.store.segments,
            step,
            clock,
            segment,
            partitions,
            self.store.durable,
            ending,
        )
        return self.runner.run(work)

    def _commit(self, step: int, clock: datetime | None, state: State, results: list[TaskResult]) -> Commit:
        changes: dict[str, list[list[object]]] = {}
        segments = state.segments()
        for result in results:
            for view, chunk in result.changes.items():
                changes.setdefault(view, []).append(chunk.to_json())
                segments.add(chunk.segment)
        return Commit(
            step,
            self.program.fingerprint,
            state.to_json(),
            clock,
            changes,
            frozenset(segments),
            waterlines=to_json(state.waterlines),
        )

    def _in_zone(self, clock: datetime | None) -> datetime | None:
        if clock is not None and not isinstance(clock, datetime):
            raise DataError(f"clock is {clock!r}; give a datetime.datetime")
        if clock is not None and clock.tzinfo is None:
            return clock.replace(tzinfo=ZoneInfo(self.program.timezone))
        return clock

    # -- views --------------------------------------------------------------------------------------

    def __getitem__(self, view: str) -> Contents:
        """The view as of the last step."""
        return self.view(view)

    def __iter__(self) -> Iterator[str]:
        """The names of the views that can be read, in the order of the program."""
        return iter(self.keys())

    def __contains__(self, view: object) -> bool:
        return str(view).lower() in map(str.lower, self.keys())

    def keys(self) -> list[str]:
        """So that `dict(pipeline)` is all views by their names."""
        return output_views(self.program)

    def view(self, view: str, as_of: int | None = None) -> Contents:
        """The view as of a step; of the last one unless `as_of` names another that is kept."""
        with self._lock:
            self._open()
            state = self._state
            name = self._view(view)
            if as_of is not None and as_of != self.last_step:
                state = state_of(self.program, self.store.commit_of(as_of))
            return contents_of(self.program, state, name, self.store, self.spark)

    def changes_of(self, view: str, step: int) -> ViewChanges:
        """What a kept step changed in a view."""
        return changes_of(self.program, self.store.commit_of(step), self._view(view), self.store)

    def _view(self, name: str) -> str:
        return output_view(self.program, name)

    # -- the end ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Release the state directory, after a step of another thread. What is queued is given up."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self.runner.close()
                self.store.close()

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        if self._closed:
            raise StateError(f"{self.store.root}: the pipeline is closed; open a new one")


def _check_names(program: object, sql: str | None) -> None:
    """A file's name and a program's text are easily mistaken for each other."""
    if isinstance(program, str) and ("\n" in program.strip() or program.rstrip().endswith(";")):
        raise Error('program is the name of a file; give the text itself as Pipeline(sql="...")')
    if sql is not None and len(sql.split()) == 1 and ";" not in sql:
        raise Error(f'sql is a program\'s text; give the name of a file as Pipeline("{sql.strip()}")')


def _of_batch(commit: Commit, last: Commit | None, stream: str, batch: int | None, offsets: object) -> Commit:
    """The commit, knowing the last micro-batch: this step, or for a step from the API the one before."""
    if batch is not None:
        return replace(commit, stream=stream, batch=batch, offsets=offsets)
    if last is not None:
        return replace(commit, stream=last.stream, batch=last.batch, offsets=last.offsets)
    return commit


def _runner(name: str, spark: SparkSession | None) -> Runner:
    if name == "inline":
        return InlineRunner()
    from dbsp.running.spark.runner import SparkRunner  # noqa: PLC0415  the inline runner must not pay for it

    runner: Runner = SparkRunner(spark)
    return runner
