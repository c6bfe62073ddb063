"""Standing INSERTs: the changelog of a view, in its shape, written step by step to a table USING a format.

Formats of files: the changes of step n are the directory `path/__step=n`, which appears as a whole and is
replaced as a whole, so that writing it again is harmless; a reader of `path` gets `__step` as a column.
Other formats are appended to: a crash between a step's write and the record of it writes that step twice.

DIR/delivered.json says, per target, which step was written last. A sink that fails undoes no step and
keeps no other sink from getting it; it gets it before anything else happens.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.months import as_integers, to_integers
from dbsp.circuits.disk import disk
from dbsp.circuits.errors import Error, StateError
from dbsp.circuits.operators.emission.trigger import STATE
from dbsp.circuits.traces.batch import Batch, Layout
from dbsp.circuits.traces.segments import Chunk, Segments
from dbsp.circuits.traces.zset import WEIGHT, ZSet
from dbsp.errors import DeliveryError
from dbsp.pipeline.spark.fed import Fed, spark_of
from dbsp.pipeline.spark.sources import check_scheme, columns_ddl, is_file, path_of
from dbsp.pipeline.spark.written import written_options
from dbsp.rows.sorting import sort_rows
from dbsp.running.spark.intervals import with_intervals
from dbsp.running.spark.messages import first_line, own_error
from dbsp.running.spark.session import share_packages
from dbsp.sql.compiler.targets.format_columns import FILLED
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.program import OP, STEP, Insert, Table
from dbsp.state.commits import sync
from dbsp.state.delivered import Delivery, check_delivered, read_delivered, write_delivered
from dbsp.views.outputs import layout_of, written_order
from dbsp.views.shapes import Records, retracts, upserts

log = logging.getLogger("dbsp")


@dataclass(frozen=True)
class Reading:
    """The function for `mapInArrow` over task numbers: a task's share of a step's changes, as records.

    A task reads a chunk. For an upsert, which needs all changes of a key at once, it reads all chunks and
    takes the keys that hash to it. columns: where a column comes from: its place in the view, a name of
    `FILLED`, or None for NULL. key: of an upsert.
    """

    root: str
    owner: str
    verify: bool
    chunks: tuple[Chunk, ...]
    layout: Layout
    schema: pa.Schema
    columns: tuple[int | str | None, ...]
    key: tuple[int, ...]
    step: int
    order: tuple[SortOrder, ...] = ()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        segments = Segments(self.root, verify=self.verify)
        for batch in batches:
            for task in batch.column(0).to_pylist():
                records = self._records(segments, task)
                columns = [
                    self._column(records, source, field.type)
                    for source, field in zip(self.columns, self.schema, strict=True)
                ]
                integers = [to_integers(column) for column in columns]
                yield pa.RecordBatch.from_arrays(integers, names=self.schema.names)

    def _records(self, segments: Segments, task: int) -> Records:
        if not self.key:
            records = retracts(self._rows(segments, task))
            return records if WEIGHT in self.columns else records.repeated()
        delta = ZSet.sum(self.layout.schema, [self._changes(segments, chunk) for chunk in self.chunks])
        hashes = hash_rows([delta.rows.column(i) for i in self.key], len(delta))
        mine = delta.take(np.flatnonzero(hashes % np.uint64(len(self.chunks)) == task))
        return upserts(mine.consolidate(), self.key)

    def _rows(self, segments: Segments, task: int) -> ZSet:
        """What a task writes. An order is one of all rows, so one task has them."""
        if not self.order:
            return self._changes(segments, self.chunks[task])
        if task:
            return ZSet.empty(self.layout.schema)
        parts = [self._changes(segments, chunk) for chunk in self.chunks]
        return sort_rows(ZSet.sum(self.layout.schema, parts).consolidate(), self.order)

    def _changes(self, segments: Segments, chunk: Chunk) -> ZSet:
        return Batch.from_stored(
            segments.open(chunk, self.layout.stored_schema, self.owner), self.layout
        ).zset

    def _column(self, records: Records, source: int | str | None, data_type: pa.DataType) -> pa.Array:
        rows = records.rows
        if isinstance(source, int):
            return rows.column(source)
        if source == WEIGHT:
            return pa.array(records.weights)
        if source == OP:
            return records.ops
        if source == STEP:
            return pa.array(np.full(rows.num_rows, self.step))
        if source == STATE:  # stored after the view's own columns
            return rows.column(rows.num_columns - 1)
        return pa.nulls(rows.num_rows, data_type)


def reading_of(pipeline: Fed, insert: Insert, step: int, chunks: Sequence[list[object]]) -> Reading:
    """The reading of a step's changes, by as many tasks as there are chunks."""
    target = pipeline.program.tables[insert.target]
    # of files the step is the name of a directory
    columns = {
        column: column.name.lower() if place is None and column.name.lower() in FILLED else place
        for column, place in zip(target.schema, insert.columns, strict=True)
        if not (is_file(target) and column.name.lower() == STEP)
    }
    return Reading(
        str(pipeline.store.segments.root),
        f"the changes of view '{insert.view}' in step {step}",
        pipeline.store.segments.verify,
        tuple(map(Chunk.from_json, chunks)),
        layout_of(pipeline.program.circuit, insert.view),
        pa.schema([pa.field(column.name, column.type) for column in columns]),
        tuple(columns.values()),
        insert.key,
        step,
        written_order(pipeline.program.views[insert.view]),
    )


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
        self.targets = list(dict.fromkeys(insert.target for insert in program.inserts))
        for target in self.targets:
            if is_file(program.tables[target]):
                check_scheme(self.spark, program.tables[target])
        root = self.pipeline.store.root
        self._delivered = read_delivered(root)
        check_delivered(root, self._delivered, self.pipeline.last_step)
        for target in self.targets:
            # what starts from nothing each time writes the same steps again
            if is_file(program.tables[target]) and not self.pipeline.store.is_temporary:
                self._refuse_strangers(program.tables[target])
        self._recorded = dict(self._delivered)

    def _refuse_strangers(self, target: Table) -> None:
        """Steps that this state hasn't made are another one's: a reader would take both for one changelog."""
        path, last = path_of(target), self.pipeline.last_step
        found = sorted(step for step in self._steps_in(path) if step > last)
        if found:
            first, newest = (f"{STEP}={step}" for step in (found[0], found[-1]))
            which = f"{first} is" if len(found) == 1 else f"{first} to {newest} are"
            raise StateError(
                f"{target.location}: table '{target.name}': {which} in {path} already, and the last step of "
                f"the state {self.pipeline.store.root} is {last}: it was written by another state directory, "
                "or before this one went back; delete what is there, or give another path"
            )

    def _steps_in(self, path: str) -> Iterator[int]:
        """The steps that have a directory there."""
        jvm = self.spark._jvm
        assert jvm is not None
        directory = jvm.org.apache.hadoop.fs.Path(path)
        files = directory.getFileSystem(self.spark._jsc.hadoopConfiguration())
        if files.exists(directory):
            for status in files.listStatus(directory):
                name, _, step = status.getPath().getName().partition("=")
                if name == STEP and step.isdigit():
                    yield int(step)

    @cached_property
    def spark(self) -> SparkSession:
        """Started only where there is something to write."""
        spark = spark_of(self.pipeline)
        share_packages(spark.sparkContext)
        return spark

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
        commit = self.pipeline.store.commit_of(step) if due else None
        failed: list[DeliveryError] = []
        for name in due:
            assert commit is not None
            target, changes = self.pipeline.program.tables[name], commit.changes_for(name)
            inserts = [i for i in self.pipeline.program.inserts if i.target == name and changes.get(i.view)]
            try:
                frames = [self._changes(target, insert, step, changes[insert.view]) for insert in inserts]
                if frames:
                    self._write(target, step, reduce(DataFrame.unionByName, frames))
            except Exception as error:  # a format is anybody's code, and the step is true all the same
                why = own_error(error) or first_line(error)
                what = f"table '{name}': step {step} was not written: {why}"
                failed.append(DeliveryError(f"{target.location}: {what}", step, name))
                failed[-1].__cause__ = error
            else:
                self._delivered[name] = Delivery(step, path_of(target) if is_file(target) else None)
        try:
            self._note()
        except StateError as error:
            what = f"can't note that step {step} was written: {error}"
            raise DeliveryError(what, step, ", ".join(due)) from error
        for other in failed[1:]:
            log.error("%s", other)
        if failed:
            raise failed[0]

    def _note(self) -> None:
        """Put on disk what was delivered."""
        if self._recorded != self._delivered:
            write_delivered(self.pipeline.store.root, self._delivered, self.pipeline.store.durable)
            self._recorded = dict(self._delivered)

    def _step_of(self, target: str) -> int:
        """The last step that it has."""
        return self._delivered[target].step if target in self._delivered else 0

    def _changes(self, target: Table, insert: Insert, step: int, chunks: Sequence[list[object]]) -> DataFrame:
        """The view's changes as the target's columns, read by the executors."""
        reading = reading_of(self.pipeline, insert, step, chunks)
        numbers = self.spark.range(0, len(chunks), 1, len(chunks))
        names = set(reading.schema.names)
        fields = [c for c in target.schema if c.name in names]
        given = [replace(c, type=as_integers(c.type)) for c in fields]
        return with_intervals(numbers.mapInArrow(reading, columns_ddl(given)), [c.type for c in fields])

    def _write(self, target: Table, step: int, changes: DataFrame) -> None:
        assert target.format is not None
        if is_file(target):
            self._replace(changes, target.format, written_options(target), path_of(target), f"{STEP}={step}")
            return
        changes.write.format(target.format).options(**target.options).mode("append").save()

    def _replace(
        self, changes: DataFrame, form: str, options: Mapping[str, str], path: str, name: str
    ) -> None:
        """Write beside the directory, under a name that readers skip, then rename."""
        jvm = self.spark._jvm
        assert jvm is not None
        partial, final = (jvm.org.apache.hadoop.fs.Path(f"{path}/{child}") for child in ("_partial", name))
        changes.write.format(form).options(**options).mode("overwrite").save(partial.toString())
        files = final.getFileSystem(self.spark._jsc.hadoopConfiguration())
        local = _local(files, partial) if self.pipeline.store.durable else None
        if local is not None:
            _sync_all(local)
        files.delete(final, True)
        if not files.rename(partial, final):
            raise Error(f"{path}/{name}: can't be written")
        if local is not None:
            with disk(local.parent):
                sync(local.parent)
                sync(local.parent.parent)


def _local(files: Any, path: Any) -> Path | None:
    """The path on a local disk, or None: another file system has rules of its own for what is durable."""
    uri = files.makeQualified(path).toUri()
    return Path(uri.getPath()) if uri.getScheme() == "file" else None


def _sync_all(directory: Path) -> None:
    """Put a directory of files on the disk, before a record says that they were written."""
    with disk(directory):
        for folder, _, names in os.walk(directory):
            for name in names:
                sync(Path(folder, name))
            sync(Path(folder))
