"""Micro-batches: the sources of a program are one streaming query, and each of its batches is one step.

One query has one set of offsets, so that a step holds a consistent cut of all sources. Exactly once:

    offsets planned (checkpoint, synced) → step committed (state) → sinks written → batch done (checkpoint)

A batch that died after its commit comes again with the same number, and is skipped. Where all sources can be
read without Spark's planning there is no query (`runs.feeding`), and without a stream all steps there are
compare (`runs.steps`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial, reduce

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from dbsp.circuits.errors import Error, ProgramError, StateError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.steps.reads import read_columns
from dbsp.pipeline.spark.bad_rows import staged
from dbsp.pipeline.spark.checkpoints.checkpoint import drop_others
from dbsp.pipeline.spark.checkpoints.on_store import checkpoint_of
from dbsp.pipeline.spark.direct.parquet import NearFiles
from dbsp.pipeline.spark.direct.reading import DirectReading, nothing
from dbsp.pipeline.spark.direct.spans import planned_spans
from dbsp.pipeline.spark.fed import Fed, spark_of
from dbsp.pipeline.spark.planned import check_files, check_steps, files_before, located, planned_files
from dbsp.pipeline.spark.runs.before import other_paths, refuse_other_sources
from dbsp.pipeline.spark.runs.edited import Edited
from dbsp.pipeline.spark.runs.feeding import feed
from dbsp.pipeline.spark.runs.steps import LOOK_SECONDS, Steps
from dbsp.pipeline.spark.runs.unread import Unread
from dbsp.pipeline.spark.snapshots import snapshot_tables
from dbsp.pipeline.spark.sources import (
    check_paths,
    file_count,
    files_per_step,
    messages_of,
    open_source,
    source_tables,
)
from dbsp.pipeline.spark.staging import gathered, give_up, whole
from dbsp.rows.incoming import BadRow
from dbsp.running.spark.messages import SparkFailure, first_line
from dbsp.running.spark.session import share_keys, share_packages
from dbsp.sql.plans.program import Table
from dbsp.state.records.commits import CHECKPOINT
from dbsp.views.changes import Changes

POLL_SECONDS = 0.2


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
        self.pipeline, self.stop = pipeline, stop
        self.tables = source_tables(pipeline.program)
        if not self.tables and not snapshot_tables(pipeline.program):
            raise ProgramError(
                f"{pipeline.program.name}: no table has a source; give one USING format OPTIONS (...), "
                "or feed the tables with `dbsp step` or Pipeline.insert"
            )
        check_paths(self.tables)
        last = pipeline.store.last
        self.checkpoint = checkpoint_of(pipeline.store.root, last.checkpoint if last else CHECKPOINT)
        self.steps = Steps(pipeline, self.tables, self.checkpoint, on_step)
        self.spark = spark_of(pipeline)
        self.direct = DirectReading(pipeline, self.spark)
        self.near = NearFiles(pipeline, self.spark)
        self._failure: Exception | None = None
        # of a sink's directories that are read as changes by key, the last step so far
        self._read_to: dict[int, int] = {}
        self._unread = Unread(self.tables)
        # held by the batch that is read or made
        self._batches = threading.Lock()

    def run(self, once: bool, every: float | None) -> int:
        """See `run`."""
        self.pipeline.redeliver()
        if not self.tables:
            return self._only_compare(once, every or LOOK_SECONDS)
        store = self.pipeline.store
        self.checkpoint.settle(store.last)
        drop_others(store)
        taken = [self.direct.take(relation, table) for relation, table in enumerate(self.tables)]
        by_feeds = all(taken) and self.direct.is_planned_here
        refuse_other_sources(store.root, self.pipeline.program, store.last, self.checkpoint.root)
        for why in other_paths(self.tables, store.last, self.checkpoint.root):
            raise StateError(f"{store.root}: {why}")
        interrupted = self._fed(once, every) if by_feeds else self._streamed(once, every)
        if self._failure is not None:
            raise self._failure
        if once and not interrupted:
            if self.steps.looks.tables:
                self.steps.compare()
            self.steps.finish()
            self.pipeline.deliver()
        return self.steps.count

    def _fed(self, once: bool, every: float | None) -> bool:
        """By feeds; whether it was stopped."""
        try:
            return feed(self.steps, self.direct, self._read_batches(), once, every, self.stop)
        except SparkFailure as error:
            raise self._readable(error) from error
        finally:
            self._end()

    def _streamed(self, once: bool, every: float | None) -> bool:
        """By a query of Spark's; whether it was stopped."""
        edited = Edited(self.checkpoint.root, self.tables)
        edited.look(self._read_batches())
        writer = self._writer()
        if once:
            writer = writer.trigger(availableNow=True)
        elif every is not None:
            writer = writer.trigger(processingTime=f"{round(every * 1000)} milliseconds")
        query = writer.foreachBatch(self._batch).start()
        self.pipeline.behind = lambda: self._unread.now(query)
        try:
            while not self.stop.is_set() and not query.awaitTermination(POLL_SECONDS):
                if not once and self._failure is None:
                    self.steps.tick(every or 0.0)
                    edited.look_again(self._read_batches())
        except StreamingQueryException as error:
            if self._failure is None and self.stop.is_set():
                return True  # the batch that came next was turned away, as it should be
            raise self._failure or Error(f"{self.pipeline.program.name}: {first_line(error)}") from error
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
                self.steps.compare()
            if once:
                self.steps.finish()
                self.pipeline.deliver()
                break
            self.stop.wait(every)
        return self.steps.count

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
        """One step. Returning says that the batch is done, so an unfinished one must raise.

        It is read before its turn: while a broker doesn't answer, requests and the clock make steps.
        """
        with self._batches:
            if self.stop.is_set():
                raise InterruptedError("stopping")
            try:
                if self.pipeline.committed(self.checkpoint.stream, batch):
                    return
                began, recorded = time.monotonic(), self.steps.record()
                parts = self._read(staged, batch)
                try:
                    with self.pipeline.turn:
                        self.steps.of_batch(batch, parts, began, recorded)
                except BaseException:
                    self.steps.give_up(parts)
                    raise
            except Exception as error:  # raised again: to be told in our words
                # it reaches `run` only as text in a StreamingQueryException
                self._failure = self._readable(error)
                raise

    def _files(self, batch: int) -> dict[str, list[str]]:
        """What the batch reads of each table of files, all of it there."""
        files = {}
        for relation, table in enumerate(self.tables):
            if table.is_file:
                files[table.name] = planned_files(self.checkpoint.root, relation, batch)
                before = partial(files_before, self.checkpoint.root, relation, batch)
                self._unread.took(relation, files[table.name], before)
                check_files(self.spark, table, files[table.name])
                if table.changelog is not None and table.primary_key:
                    if relation not in self._read_to:
                        self._read_to[relation] = check_steps(table, 0, before())
                    self._read_to[relation] = check_steps(table, self._read_to[relation], files[table.name])
        return files

    def _read(self, staged: DataFrame, batch: int) -> list[tuple[int, Chunk]]:
        self.steps.is_reading = True
        try:
            return self._collected(staged, batch)
        finally:
            self.steps.is_reading = False

    def _collected(self, staged: DataFrame, batch: int) -> list[tuple[int, Chunk]]:
        files = self._files(batch)
        spans = [
            (of, span) for of in self.direct.direct for span in planned_spans(self.checkpoint.root, of, batch)
        ]
        values = self.direct.staged(spans) if spans else []
        whole(self.pipeline.store, values)  # what can't be read by one is not asked for by the other
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
        with self._batches:
            pass  # the step that runs has ended, and the next is turned away
        # not under the lock: Spark waits here for a batch that may be waiting for it
        if query is not None:
            query.stop()
        self.steps.close()
        self.direct.close()
