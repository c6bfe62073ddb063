"""The steps of a run: of what its sources have, of what the clock makes due, of what is compared.

A step of a batch is committed with the batch's number. Between two batches a step without data happens when
the clock makes something due; its commit repeats the last batch's number. A source that is read whole is
compared in each step, and between batches when it is time.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

from dbsp.circuits.errors import AbsentRow, StateError
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.segments.chunk import Chunk
from dbsp.pipeline.deltas.told import Told
from dbsp.pipeline.spark.bad_rows import Refusals
from dbsp.pipeline.spark.checkpoints.checkpoint import Checkpoint
from dbsp.pipeline.spark.fed import Fed, spark_of
from dbsp.pipeline.spark.runs.idle import Idle
from dbsp.pipeline.spark.snapshots import Looks, queue_differences, snapshot_tables
from dbsp.running.queue import Rows
from dbsp.sql.plans.program import Table
from dbsp.views.changes import Changes

# how often a source that is read whole is looked at, unless it is said
LOOK_SECONDS = 1.0
# after how many batches files of the checkpoint that no kept step needs are deleted from a store; first after
# one, since most runs are short
SWEPT = 200

log = logging.getLogger("dbsp")


class Steps:
    """tables: whose sources are streams, by relation. on_step: called with what each step changes.

    All but `record` and `close` are for who has the pipeline's turn.
    """

    def __init__(
        self,
        pipeline: Fed,
        tables: Sequence[Table],
        checkpoint: Checkpoint,
        on_step: Callable[[Changes], None] | None,
    ) -> None:
        self.pipeline, self.tables, self.checkpoint, self.on_step = pipeline, tables, checkpoint, on_step
        self.looks = Looks(snapshot_tables(pipeline.program))
        self.count = 0
        self._batches = 0
        # while rows of a batch are on their way their sources aren't idle
        self.is_reading = False
        self.began = -math.inf
        self._spark = spark_of(pipeline)
        self._syncing = ThreadPoolExecutor(1, "checkpoint")
        self._refusals = Refusals()
        self._told = Told(lambda: pipeline.view(BAD_ROWS))
        self._idle = Idle(pipeline, tables)
        # after which step, and when, the clock has something to do
        self._due: tuple[int, datetime | None] | None = None

    def record(self) -> Future[object]:
        """Sync what says what a batch is, while that is read."""
        return self._syncing.submit(self.checkpoint.record, self.pipeline.store.durable)

    def of_batch(
        self, batch: int, parts: Sequence[tuple[int, Rows]], began: float, recorded: Future[object]
    ) -> None:
        """Of a planned batch. parts: rows by relation; under ~i those that are none. began: the reading.

        Whoever has read the rows gives them up where it raises.
        """
        self.began = began
        try:
            for relation, rows in parts:
                if relation < 0:
                    self._refuse(self.tables[~relation], rows)
                else:
                    self.pipeline.change(self.tables[relation].name, rows)
                self._idle.saw(self.tables[max(relation, ~relation)])
            looked = self.looks.due()
            self._look(looked)
            self._idle.advance()
            offsets = recorded.result()
            took = time.monotonic() - self.began
            stream = self.checkpoint.stream
            step = partial(self.pipeline.step, stream=stream, batch=batch, offsets=offsets, read=took)
            changes = self._without_absent(step)
            self.looks.done(looked, self.began)
        except BaseException:
            self._forget()
            self.pipeline.discard()
            raise
        self._refusals.made(changes.step)
        self._made(changes)
        self._batches += 1
        if self._batches % SWEPT == 1:
            self._sweep()

    def give_up(self, parts: Sequence[tuple[int, Rows]]) -> None:
        """Of a step that wasn't made keep no file; of one that was queued they are gone already."""
        self.pipeline.store.discard({rows.segment for _, rows in parts if isinstance(rows, Chunk)})

    def compare(self) -> None:
        """A step, if what is read whole isn't what the tables hold, a source is idle, or the clock makes
        something due.

        It belongs to no micro-batch.
        """
        self.began = time.monotonic()
        looked, moved = self.looks.due(), False
        try:
            self._look(looked)
            moved = not self.is_reading and self._idle.advance()
            if moved or self.pipeline.queued or self._is_due():
                changes = self.pipeline.step()
                self._refusals.made(changes.step)
                self._made(changes)
            self.looks.done(looked, self.began)
        except BaseException:
            self._forget()
            if self.looks.tables or moved:
                self.pipeline.discard()
            raise

    def tick(self, every: float) -> None:
        """Between two batches, when it is time. every: seconds from a step's start to the next one's."""
        if not self.pipeline.turn.acquire(blocking=False):
            return  # the step that runs has a later clock than any that is due
        try:
            waited = time.monotonic() - self.began
            looks = waited >= (every or LOOK_SECONDS) and self._looks()
            if waited >= every and (looks or self._is_due()):
                self.compare()
            else:
                self.pipeline.redeliver()
        finally:
            self.pipeline.turn.release()

    def _looks(self) -> bool:
        return bool(self.looks.due() or (not self.is_reading and self._idle.moves()))

    def _is_due(self) -> bool:
        if self._due is None or self._due[0] != self.pipeline.last_step:
            self._due = (self.pipeline.last_step, self.pipeline.due)
        moment = self._due[1]
        return moment is not None and moment <= datetime.now(UTC)

    def finish(self) -> None:
        """The sources are exhausted: what TRIGGER and EMIT held back leaves.

        Not where rows are to leave once, when they are final, or wait for others: a later run may find more.
        """
        if self.pipeline.program.waits_for_more:
            return
        changes = self.pipeline.finish()
        if changes is not None:
            self._made(changes)

    def _made(self, changes: Changes) -> None:
        self.count += 1
        if self.on_step is not None:
            self.on_step(changes)

    def _sweep(self) -> None:
        store = self.pipeline.store
        try:
            self.checkpoint.sweep(map(store.commit_of, store.steps))
        except StateError as error:
            log.warning("%s; swept later", error)

    def _look(self, tables: Sequence[Table]) -> None:
        """Queue how these tables differ from their sources, and the bad rows of those that weren't told."""
        queue_differences(self.pipeline, self._spark, tables, self.looks, self._told, self._refuse)

    def _refuse(self, table: Table, bad: Rows) -> None:
        self.pipeline.refuse(bad)
        self._refusals.add(table, bad, lambda: self.pipeline.view(BAD_ROWS), self.pipeline.store.segments)

    def _forget(self) -> None:
        """A step wasn't made."""
        self._refusals.forget()
        self._told.forget()
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

    def close(self) -> None:
        self._syncing.shutdown()
