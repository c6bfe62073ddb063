"""Micro-batches: the sources of a program are one streaming query, and each of its batches is one step.

One query has one set of offsets, so that a step holds a consistent cut of all sources. Exactly once:

    offsets planned (checkpoint, synced) → step committed (state) → sinks written → batch done (checkpoint)

A batch that died after its commit comes again with the same number, and is skipped. Between two batches a
step without data happens when the clock makes something due; its commit repeats the last batch's number.
A source that is read whole is compared in each step, and between batches when it is time: without a stream
these are all the steps there are.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial, reduce

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from dbsp.circuits.errors import AbsentRow, Error, ProgramError, StateError
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.steps.reads import read_columns
from dbsp.circuits.traces.chunk import Chunk
from dbsp.pipeline.deltas.told import Told
from dbsp.pipeline.spark.bad_rows import Refusals, staged
from dbsp.pipeline.spark.checkpoints.checkpoint import drop_others
from dbsp.pipeline.spark.checkpoints.offset_log import OffsetLog
from dbsp.pipeline.spark.checkpoints.on_store import checkpoint_of
from dbsp.pipeline.spark.direct.ahead import Taken
from dbsp.pipeline.spark.direct.parquet import NearFiles
from dbsp.pipeline.spark.direct.reading import DirectReading, nothing
from dbsp.pipeline.spark.direct.spans import planned_spans
from dbsp.pipeline.spark.fed import Fed, spark_of
from dbsp.pipeline.spark.planned import check_files, check_steps, files_before, located, planned_files
from dbsp.pipeline.spark.runs.edited import Edited
from dbsp.pipeline.spark.runs.feeds import Feeds
from dbsp.pipeline.spark.runs.idle import Idle
from dbsp.pipeline.spark.runs.unread import Unread
from dbsp.pipeline.spark.snapshots import Looks, queue_differences, snapshot_tables
from dbsp.pipeline.spark.sources import (
    check_paths,
    file_count,
    files_per_step,
    messages_of,
    open_source,
    source_tables,
)
from dbsp.pipeline.spark.staging import gathered, give_up
from dbsp.rows.incoming import BadRow
from dbsp.running.queue import Rows
from dbsp.running.spark.messages import SparkFailure, first_line
from dbsp.running.spark.runner import SparkRunner
from dbsp.running.spark.session import share_keys, share_packages
from dbsp.sql.plans.program import Table
from dbsp.state.records.commits import CHECKPOINT
from dbsp.views.changes import Changes

POLL_SECONDS = 0.2
# how often a source that is read whole is looked at, unless it is said
LOOK_SECONDS = 1.0
# after how many steps files of the checkpoint that no kept step needs are deleted from a store
SWEPT = 200

log = logging.getLogger("dbsp")


def run(
    pipeline: Fed,
    *,
    once: bool = False,
    every: float | None = None,
    on_step: Callable[[Changes], None] | None = None,
    stop: threading.Event | None = None,
) -> int:
    """Step until the sources are exhausted (once), `stop` is set, or for ever; the number of steps made.

    every: seconds from the start of a step to the start of the next one, at least. Raises what a step
    raises, with the state as the step before left it.
    """
    return Run(pipeline, on_step, stop or threading.Event()).run(once, every)


def expected_steps(pipeline: Fed) -> int | None:
    """How many steps a run over what is there now makes; None where a source isn't of files.

    Each step takes `maxFilesPerTrigger` files of every table.
    """
    tables = source_tables(pipeline.program)
    if not tables or snapshot_tables(pipeline.program) or not all(table.is_file for table in tables):
        return None
    check_paths(tables)
    if pipeline.store.last and pipeline.store.last.checkpoint != CHECKPOINT:
        return None  # its sources weren't all there from the first batch on
    done = pipeline.store.last.batch if pipeline.store.last else None
    total = max(-(-file_count(table) // files_per_step(table)) for table in tables)
    return max(0, total - (done + 1 if done is not None else 0))


class Run:
    """Raises ProgramError for a program without sources, before anything runs."""

    def __init__(
        self, pipeline: Fed, on_step: Callable[[Changes], None] | None, stop: threading.Event
    ) -> None:
        self.pipeline, self.on_step, self.stop = pipeline, on_step, stop
        self.tables = source_tables(pipeline.program)
        self.looks = Looks(snapshot_tables(pipeline.program))
        last = pipeline.store.last
        self.checkpoint = checkpoint_of(pipeline.store.root, last.checkpoint if last else CHECKPOINT)
        self.syncing = ThreadPoolExecutor(1, "checkpoint")
        self.refusals = Refusals()
        self.told = Told(lambda: pipeline.view(BAD_ROWS))
        self.idle = Idle(pipeline, self.tables)
        self.steps = 0
        self.failure: Exception | None = None
        self.began = -math.inf
        # after which step, and when, the clock has something to do
        self.due: tuple[int, datetime | None] | None = None
        # of a sink's directories that are read as changes by key, the last step so far
        self.read_to: dict[int, int] = {}
        self.unread = Unread(self.tables)
        if not self.tables and not self.looks.tables:
            raise ProgramError(
                f"{pipeline.program.name}: no table has a source; give one USING format OPTIONS (...), "
                "or feed the tables with `dbsp step` or Pipeline.insert"
            )
        check_paths(self.tables)
        self.spark = spark_of(pipeline)
        self.direct = DirectReading(pipeline, self.spark)
        self.near = NearFiles(pipeline, self.spark)

    def run(self, once: bool, every: float | None) -> int:
        """See `run`."""
        self.pipeline.redeliver()
        if not self.tables:
            return self._only_compare(once, every or LOOK_SECONDS)
        self.checkpoint.settle(self.pipeline.store.last)
        drop_others(self.pipeline.store)
        self._sweep()
        taken = [self.direct.take(relation, table) for relation, table in enumerate(self.tables)]
        run = self._fed if all(taken) and self.direct.is_planned_here else self._streamed
        interrupted = run(once, every)
        if self.failure is not None:
            raise self.failure
        if once and not interrupted:
            if self.looks.tables:
                self._compare()
            self._finish()
            self.pipeline.deliver()
        return self.steps

    def _fed(self, once: bool, every: float | None) -> bool:
        """By feeds, without a query of Spark's; whether it was stopped."""
        self._stay()
        batches = self._read_batches()
        log = OffsetLog(self.checkpoint.root, len(self.tables))
        log.open()
        feeds = Feeds(self.direct, log, batches - 1, once)
        self.pipeline.behind, self.pipeline.away = feeds.unread, feeds.away
        try:
            while not self.stop.is_set():
                if every and (left := self.began + every - time.monotonic()) > 0:
                    self.stop.wait(min(left, POLL_SECONDS))
                elif (taken := feeds.next(POLL_SECONDS)) is not None:
                    self._feed(feeds, batches, taken)
                    batches += 1
                elif once and feeds.is_exhausted:
                    break
                if not once:
                    self._tick(every or 0.0)
            return self.stop.is_set()
        finally:
            self.pipeline.behind = self.pipeline.away = dict
            feeds.close()
            self._end()

    def _feed(self, feeds: Feeds, batch: int, taken: Mapping[int, Taken]) -> None:
        """One step of what feeds have read."""
        began = time.monotonic()
        parts: list[tuple[int, Rows]] = []
        try:
            for relation, one in taken.items():
                good, bad = self.direct.rows(relation, one)
                parts += [*((relation, rows) for rows in good), *((~relation, rows) for rows in bad)]
            with self.pipeline.turn:
                feeds.plan(batch, taken)
                self._step(batch, lambda: parts, began)
        except Exception as error:  # raised again: to be told in our words
            # of a step that was queued they are gone already
            self.pipeline.store.discard({rows.segment for _, rows in parts if isinstance(rows, Chunk)})
            raise self._readable(error) from error

    def _stay(self) -> None:
        """Small steps are made where their rows are read."""
        if isinstance(self.pipeline.runner, SparkRunner):
            self.pipeline.runner.stay()

    def _streamed(self, once: bool, every: float | None) -> bool:
        """By a query of Spark's; whether it was stopped."""
        edited = Edited(self.checkpoint.root, self.tables)
        edited.look(self._read_batches())
        writer = self._writer()
        if len(self.near.tables) + len(self.direct.direct) == len(self.tables):
            self._stay()
        if once:
            writer = writer.trigger(availableNow=True)
        elif every is not None:
            writer = writer.trigger(processingTime=f"{round(every * 1000)} milliseconds")
        query = writer.foreachBatch(self._batch).start()
        self.pipeline.behind = lambda: self.unread.now(query)
        try:
            while not self.stop.is_set() and not query.awaitTermination(POLL_SECONDS):
                if not once:
                    self._tick(every or 0.0)
                    edited.look_again(self._read_batches())
        except StreamingQueryException as error:
            if self.failure is None and self.stop.is_set():
                return True  # the batch that came next was turned away, as it should be
            raise self.failure or Error(f"{self.pipeline.program.name}: {first_line(error)}") from error
        finally:
            interrupted = self.stop.is_set()
            self.pipeline.behind = dict
            self._end(query)
        return interrupted

    def _read_batches(self) -> int:
        """How many of the query's batches are committed."""
        last = self.pipeline.store.last
        if last is None or last.batch is None or last.stream != self.checkpoint.stream:
            return 0
        return last.batch + 1

    def _only_compare(self, once: bool, every: float) -> int:
        """A run without a stream."""
        while not self.stop.is_set():
            with self.pipeline.turn:
                self._compare()
            if once:
                self._finish()
                self.pipeline.deliver()
                break
            self.stop.wait(every)
        return self.steps

    def _compare(self) -> None:
        """A step, if what is read whole isn't what the tables hold, a source is idle, or the clock makes
        something due.

        It belongs to no micro-batch.
        """
        self.began = time.monotonic()
        looked, moved = self.looks.due(), False
        try:
            self._look(looked)
            moved = self.idle.advance()
            if moved or self.pipeline.queued or self._is_due():
                changes = self.pipeline.step()
                self.refusals.made(changes.step)
                self._made(changes)
            self.looks.done(looked, self.began)
        except BaseException:
            self._forget()
            if self.looks.tables or moved:
                self.pipeline.discard()
            raise

    def _tick(self, every: float) -> None:
        """Between two batches, when it is time."""
        if not self.pipeline.turn.acquire(blocking=False):
            return  # the step that runs has a later clock than any that is due
        try:
            waited = time.monotonic() - self.began
            looks = waited >= (every or LOOK_SECONDS) and bool(self.looks.due() or self.idle.moves())
            if self.failure is None and waited >= every and (looks or self._is_due()):
                self._compare()
            elif self.failure is None:
                self.pipeline.redeliver()
        finally:
            self.pipeline.turn.release()

    def _is_due(self) -> bool:
        if self.due is None or self.due[0] != self.pipeline.last_step:
            self.due = (self.pipeline.last_step, self.pipeline.due)
        moment = self.due[1]
        return moment is not None and moment <= datetime.now(UTC)

    def _finish(self) -> None:
        """The sources are exhausted: what TRIGGER and EMIT held back leaves.

        Not where rows are to leave once, when they are final: a later run may find more input.
        """
        if self.pipeline.program.emits_once:
            return
        changes = self.pipeline.finish()
        if changes is not None:
            self._made(changes)

    def _made(self, changes: Changes) -> None:
        self.steps += 1
        if self.on_step is not None:
            self.on_step(changes)

    def _writer(self) -> DataStreamWriter:
        share_packages(self.spark.sparkContext)
        if self.pipeline.store.segments.origin is not None:
            share_keys(self.spark.sparkContext)
        staged = reduce(DataFrame.union, [self._staged(i, table) for i, table in enumerate(self.tables)])
        return staged.writeStream.option("checkpointLocation", str(self.checkpoint.root.absolute()))

    def _staged(self, relation: int, table: Table) -> DataFrame:
        if relation in self.direct.direct:
            return nothing(relation, messages_of(self.spark, table))
        self.near.take(relation, table)
        read = read_columns(self.pipeline.program.circuit, table.name)
        frame = open_source(self.spark, table, read)
        place, timezone = self.pipeline.store.segments.place, self.pipeline.program.timezone
        return staged(frame, relation, table, timezone, place, read)

    def _batch(self, staged: DataFrame, batch: int) -> None:
        """One step. Returning says that the batch is done, so an unfinished one must raise."""
        with self.pipeline.turn:
            if self.stop.is_set():
                raise InterruptedError("stopping")
            try:
                self._step(batch, lambda: self._collected(staged, batch), time.monotonic())
            except Exception as error:  # raised again: to be told in our words
                # it reaches `run` only as text in a StreamingQueryException
                self.failure = self._readable(error)
                raise

    def _step(self, batch: int, read: Callable[[], Iterable[tuple[int, Rows]]], began: float) -> None:
        """Of a planned batch. read: rows by relation; under ~i those that are none. began: the reading."""
        stream = self.checkpoint.stream
        if self.pipeline.committed(stream, batch):
            return
        self.began = began
        recorded = self.syncing.submit(self.checkpoint.record, self.pipeline.store.durable)
        try:
            for relation, rows in read():
                if relation < 0:
                    self._refuse(self.tables[~relation], rows)
                else:
                    self.pipeline.change(self.tables[relation].name, rows)
                self.idle.saw(self.tables[max(relation, ~relation)])
            looked = self.looks.due()
            self._look(looked)
            self.idle.advance()
            offsets = recorded.result()
            took = time.monotonic() - self.began
            step = partial(self.pipeline.step, stream=stream, batch=batch, offsets=offsets, read=took)
            changes = self._without_absent(step)
            self.looks.done(looked, self.began)
        except BaseException:
            self._forget()
            self.pipeline.discard()
            raise
        self.refusals.made(changes.step)
        self._made(changes)
        if self.steps % SWEPT == 0:
            self._sweep()

    def _sweep(self) -> None:
        store = self.pipeline.store
        try:
            self.checkpoint.sweep(map(store.commit_of, store.steps))
        except StateError as error:
            log.warning("%s; swept later", error)

    def _look(self, tables: Sequence[Table]) -> None:
        """Queue how these tables differ from their sources, and the bad rows of those that weren't told."""
        queue_differences(self.pipeline, self.spark, tables, self.looks, self.told, self._refuse)

    def _refuse(self, table: Table, bad: Rows) -> None:
        self.pipeline.refuse(bad)
        self.refusals.add(table, bad, lambda: self.pipeline.view(BAD_ROWS), self.pipeline.store.segments)

    def _forget(self) -> None:
        """A step wasn't made."""
        self.refusals.forget()
        self.told.forget()
        self.looks.forget()

    def _without_absent(self, make: Callable[[], Changes]) -> Changes:
        """A step that takes back rows which aren't there is made without that, where bad rows are kept."""
        excused: set[str] = set()
        while True:
            try:
                return make()
            except AbsentRow as error:
                table = self.pipeline.program.tables[error.table]
                if table.name in excused or not table.keeps_bad_rows:
                    raise
                excused.add(table.name)
                for chunk in self.pipeline.excuse(table.name):
                    self._refuse(table, chunk)

    def _files(self, batch: int) -> dict[str, list[str]]:
        """What the batch reads of each table of files, all of it there."""
        files = {}
        for relation, table in enumerate(self.tables):
            if table.is_file:
                files[table.name] = planned_files(self.checkpoint.root, relation, batch)
                before = partial(files_before, self.checkpoint.root, relation, batch)
                self.unread.took(relation, files[table.name], before)
                check_files(self.spark, table, files[table.name])
                if table.changelog is not None and table.primary_key:
                    if relation not in self.read_to:
                        self.read_to[relation] = check_steps(table, 0, before())
                    self.read_to[relation] = check_steps(table, self.read_to[relation], files[table.name])
        return files

    def _collected(self, staged: DataFrame, batch: int) -> list[tuple[int, Chunk]]:
        files = self._files(batch)
        spans = [
            (of, span) for of in self.direct.direct for span in planned_spans(self.checkpoint.root, of, batch)
        ]
        values = self.direct.staged(spans) if spans else []
        others = [of for of in range(len(self.tables)) if of not in self.direct.direct]
        if others:
            try:
                near = self.near.staged(others, files)
                values += staged.collect() if near is None else near
            except BaseException:
                give_up(self.pipeline.store, values)
                raise
        try:
            return gathered(self.pipeline.store, values)
        except BadRow as error:
            if error.table not in files:
                raise
            table = self.pipeline.program.tables[error.table]
            raise located(self.spark, table, files[error.table], error) from None

    def _readable(self, error: Exception) -> Exception:
        if isinstance(error, SparkFailure):
            return Error(f"{self.pipeline.program.name}: {first_line(error)}")
        return error

    def _end(self, query: StreamingQuery | None = None) -> None:
        """Stop between two steps: Spark would interrupt one that is running."""
        self.stop.set()
        with self.pipeline.turn:
            pass  # the step that runs has ended, and the next is turned away
        # not under the lock: Spark waits here for a batch that may be waiting for it
        if query is not None:
            query.stop()
        self.syncing.shutdown()
        self.direct.close()
