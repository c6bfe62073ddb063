"""Standing INSERTs: the changelog of a view, written step by step to a table USING a format.

Formats of files: the changes of step n are the directory `path/__step=n`, which appears as a whole and is
replaced as a whole, so that writing it again is harmless; a reader of `path` gets `__step` as a column.
Other formats are appended to: a crash between a step's write and the record of it writes that step twice.

DIR/delivered.json says, per target, which step was written last.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit

from circuits.batch import Batch, Layout
from circuits.errors import Error, StateError
from circuits.operators.trigger import STATE
from circuits.segments import Chunk, Segments
from circuits.zset import WEIGHT
from dbsp.commits import write_whole
from dbsp.outputs import layout_of
from dbsp.spark.messages import SparkFailure, first_line
from dbsp.spark.session import share_packages
from dbsp.spark.sources import columns_ddl, is_file, path_of, quoted
from sql.program import Table

if TYPE_CHECKING:
    from dbsp.pipeline import Pipeline

STEP = "__step"


@dataclass(frozen=True)
class Reading:
    """The function for `mapInArrow` over chunk numbers: of each chunk's changes the columns `places`."""

    root: str
    chunks: tuple[Chunk, ...]
    layout: Layout
    schema: pa.Schema
    places: tuple[int, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        segments = Segments(self.root)
        for batch in batches:
            for i in batch.column(0).to_pylist():
                stored = segments.open(self.chunks[i], self.layout.stored_schema)
                changes = Batch.from_stored(stored, self.layout).zset.to_batch()
                columns = [changes.column(i) for i in self.places]
                yield pa.RecordBatch.from_arrays(columns, schema=self.schema)


@dataclass
class Sinks:
    """The sinks of a pipeline's program: the tables that something is inserted into."""

    pipeline: Pipeline
    spark: SparkSession
    _delivered: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        program = self.pipeline.program
        self.targets = list(dict.fromkeys(insert.target for insert in program.inserts))
        for target in self.targets:
            if is_file(program.tables[target]):
                path_of(program.tables[target])
        self._record = self.pipeline.store.root / "delivered.json"
        if self._record.exists():
            self._delivered = json.loads(self._record.read_text())
        share_packages(self.spark.sparkContext)

    def catch_up(self) -> None:
        """Deliver the committed steps that a crash, or a step outside of `run`, left undelivered."""
        last = self.pipeline.last_step
        if not self.targets or not last:
            return
        first = min(self._delivered.get(target, 0) for target in self.targets) + 1
        kept = self.pipeline.store.steps[0]
        if first < kept:
            raise StateError(
                f"{self.pipeline.store.root}: steps {first} to {kept - 1} never reached the sinks "
                "and their changes are not kept any more; start from a new state directory"
            )
        for step in range(first, last + 1):
            self.deliver(step)

    def deliver(self, step: int) -> None:
        """Write a kept step's changes to all sinks that don't have them. Raises Error."""
        due = [target for target in self.targets if self._delivered.get(target, 0) < step]
        changes = self.pipeline.store.commit_of(step).changes if due else {}
        for name in due:
            target = self.pipeline.program.tables[name]
            views = [
                i.view for i in self.pipeline.program.inserts if i.target == name and changes.get(i.view)
            ]
            frames = [self._changes(target, view, changes[view]) for view in views]
            if frames:
                try:
                    self._write(target, step, reduce(DataFrame.unionByName, frames))
                except SparkFailure as error:
                    what = f"table '{name}': step {step} was not written: {first_line(error)}"
                    raise Error(f"{target.location}: {what}") from error
            self._delivered[name] = step
        if due:
            write_whole(self._record, json.dumps(self._delivered).encode(), self.pipeline.store.durable)

    def _changes(self, target: Table, view: str, chunks: Sequence[list[object]]) -> DataFrame:
        """The view's changes under the target's column names, read by the executors."""
        layout = layout_of(self.pipeline.program.circuit, view)
        columns = [column for column in target.schema if column.name.lower() not in (STEP, STATE, WEIGHT)]
        places = list(range(len(columns)))
        # the stored columns are the view's, the result's state if there is one, the weight
        for name, place in ((STATE, len(columns)), (WEIGHT, len(layout.schema))):
            asked = [column for column in target.schema if column.name.lower() == name]
            columns += asked
            places += [place] * len(asked)
        reading = Reading(
            str(self.pipeline.store.segments.root),
            tuple(map(Chunk.from_json, chunks)),
            layout,
            pa.schema([pa.field(column.name, column.type) for column in columns]),
            tuple(places),
        )
        numbers = self.spark.range(0, len(chunks), 1, len(chunks))
        return numbers.mapInArrow(reading, columns_ddl(columns))

    def _write(self, target: Table, step: int, changes: DataFrame) -> None:
        assert target.format is not None
        if is_file(target):
            options = {name: value for name, value in target.options.items() if name.lower() != "path"}
            self._replace(changes, target.format, options, path_of(target), f"{STEP}={step}")
            return
        if any(column.name.lower() == STEP for column in target.schema):
            changes = changes.withColumn(STEP, lit(step).cast("bigint"))
        ordered = changes.select(*[quoted(column.name) for column in target.schema])
        ordered.write.format(target.format).options(**target.options).mode("append").save()

    def _replace(
        self, changes: DataFrame, form: str, options: Mapping[str, str], path: str, name: str
    ) -> None:
        """Write beside the directory, under a name that readers skip, then rename."""
        jvm = self.spark._jvm
        assert jvm is not None
        partial, final = (jvm.org.apache.hadoop.fs.Path(f"{path}/{child}") for child in ("_partial", name))
        changes.write.format(form).options(**options).mode("overwrite").save(partial.toString())
        files = final.getFileSystem(self.spark._jsc.hadoopConfiguration())
        files.delete(final, True)
        if not files.rename(partial, final):
            raise Error(f"{path}/{name}: can't be written")
