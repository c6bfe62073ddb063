"""Rows of a DataFrame become segments in the executors; only references to them reach the driver.

The files lie in the state directory under names of their own. They aren't synced and no commit refers to
them: after a crash the rows are read again, and what is left is swept when the directory is next opened.
"""

from __future__ import annotations

import json
import pickle
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import col, lit

from dbsp.circuits.columns.forms.outside import outside_type
from dbsp.circuits.errors import DataError, Error, StateError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.steps.reads import read_columns
from dbsp.circuits.traces.zset import ZSet
from dbsp.pipeline.spark.fed import Fed
from dbsp.pipeline.spark.in_tasks import ReadInTasks, ReadPieces
from dbsp.rows.incoming import BadRow, key_rows, whole_rows
from dbsp.running.queue import weighted
from dbsp.running.spark.intervals import quoted, with_integers
from dbsp.running.spark.session import share_keys, share_packages
from dbsp.sql.plans.collations import kept_type
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.types import UnsupportedType
from dbsp.state.opening import segments_at
from dbsp.state.store import Store

# Tasks among which pieces are shared out, where there are as many: some pieces are larger than others.
_TASKS_A_CORE = 4
# What `Staging` gives per task: the table's position, and a pickled list of (Order, chunk) or an Error. What
# is no row of the table comes apart, under the position's complement ~i.
STAGED = "relation int, staged binary"
# Where rows stand among those of all tasks; where it is the same, as the tasks come.
Order: TypeAlias = tuple[float | str, ...]


class Reader(Protocol):
    """Makes of a batch the rows of a table, their int64 weights and order. Raises DataError."""

    @property
    def table(self) -> Table: ...

    def __call__(self, batch: pa.RecordBatch) -> Iterator[tuple[Order, pa.RecordBatch, np.ndarray]]: ...


class Refusing(Protocol):
    """What `read` makes of the batch's rows; those that are none of the table are added to `bad`."""

    def __call__(
        self, read: Reader, batch: pa.RecordBatch, bad: list[pa.RecordBatch]
    ) -> Iterator[tuple[Order, pa.RecordBatch, np.ndarray]]: ...


@dataclass(frozen=True)
class Rows:
    """Reads rows that are inserted, or deleted. weight: of each; of a keyed table −1 is a delete by key."""

    table: Table
    weight: int
    timezone: str

    def __call__(self, batch: pa.RecordBatch) -> Iterator[tuple[Order, pa.RecordBatch, np.ndarray]]:
        rows = self._read(batch)
        yield (), rows, np.full(rows.num_rows, self.weight, np.int64)

    def _read(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Its error names table and column, but no row: a position in a task's batch means nothing."""
        try:
            if self.weight < 0 and self.table.primary_key:
                return key_rows(self.table, batch, self.timezone)
            return whole_rows(self.table, batch, self.timezone, retracted=self.weight < 0)
        except BadRow as error:
            placeless = BadRow(error.table, error.problem, None)
            placeless.column, placeless.refused = error.column, error.refused
            raise placeless from None


@dataclass(frozen=True)
class Staging:
    """The function for `mapInArrow`: rows in, one row of STAGED out, or two. place: see `Segments`.

    refuse: what keeps bad rows; None: one of them is an error.
    """

    place: str
    relation: int
    read: Reader
    refuse: Refusing | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        staged: dict[int, list[tuple[Order, Chunk]] | Error] = {}
        try:
            staged |= self._write(batches)
        except (DataError, StateError) as error:
            for _ in batches:  # a worker whose input was left unread is not used again
                pass
            staged[self.relation] = error
        for relation, value in staged.items():
            if value:
                yield pa.RecordBatch.from_pydict(
                    {
                        "relation": pa.array([relation], pa.int32()),
                        "staged": pa.array([pickle.dumps(value)], pa.binary()),
                    }
                )

    def _write(self, batches: Iterable[pa.RecordBatch]) -> dict[int, list[tuple[Order, Chunk]]]:
        segments = segments_at(self.place)
        writer = segments.writer(f"staged-{secrets.token_hex(8)}.input", durable=False)
        chunks: list[tuple[Order, Chunk]] = []
        bad: list[pa.RecordBatch] = []
        for batch in batches:
            read = self.read(batch) if self.refuse is None else self.refuse(self.read, batch, bad)
            for order, rows, weights in read:
                if rows.num_rows:
                    chunks.append((order, writer.write(ZSet(rows, weights).to_batch())))
        refused: list[tuple[Order, Chunk]] = [
            ((), writer.write(weighted(rows, np.ones(rows.num_rows, np.int64)))) for rows in bad
        ]
        writer.close()
        segments.settle({writer.name})
        return {self.relation: chunks, ~self.relation: refused}


@dataclass(frozen=True)
class _StagingRead:
    """The function for `mapInArrow` of what tasks read: numbers of pieces in. columns: those that are read;
    others are NULL.
    """

    read: ReadPieces
    schema: pa.Schema
    columns: tuple[str, ...]
    staging: Staging

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        return self.staging(map(self._whole, self.read(numbers, self.columns)))

    def _whole(self, found: pa.RecordBatch) -> pa.RecordBatch:
        columns = [
            found.column(field.name) if field.name in self.columns else pa.nulls(found.num_rows, field.type)
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def stage_read(pipeline: Fed, table: Table, rows: ReadInTasks, weight: int) -> list[Chunk]:
    """What tasks read, with that weight, as chunks in the state's segments, in the pieces' order.

    Raises DataError, and what reading raises.
    """
    reader, context = Rows(table, weight, pipeline.program.timezone), rows.spark.sparkContext
    share_packages(context)
    if pipeline.store.segments.origin is not None:
        share_keys(context)
    names = [field.name for field in table.schema]
    if weight > 0:
        read = read_columns(pipeline.program.circuit, table.name) | table.judged_by
        names = [field.name for i, field in enumerate(table.schema) if i in read or not field.nullable]
    staging = Staging(pipeline.store.segments.place, 0, reader)
    task = _StagingRead(rows.read, rows.schema, tuple(names or [table.schema[0].name]), staging)
    tasks = max(1, min(rows.pieces, _TASKS_A_CORE * context.defaultParallelism))
    numbers = rows.spark.range(0, rows.pieces, 1, tasks)
    return [chunk for _, chunk in collect(pipeline.store, numbers.mapInArrow(task, STAGED))]


def stage(pipeline: Fed, table: Table, frame: DataFrame, weight: int) -> list[Chunk]:
    """The DataFrame's rows with that weight, as chunks in the state's segments, in its partitions' order.

    Raises DataError for columns that don't fit, before anything runs, and for values that don't.
    """
    return stage_apart(pipeline, table, frame, weight, None, ())[0]


def stage_apart(
    pipeline: Fed,
    table: Table,
    frame: DataFrame,
    weight: int,
    refuse: Refusing | None,
    beside: Sequence[str],
) -> tuple[list[Chunk], list[Chunk]]:
    """The same, and what is no row of the table. beside: columns that only `refuse` reads."""
    if not hasattr(frame, "_jdf"):
        raise DataError(
            f"table '{table.name}': {type(frame).__module__}.{type(frame).__name__} is no DataFrame of a "
            "classic session; of one of Spark Connect hand over its toArrow()"
        )
    rows = Rows(table, weight, pipeline.program.timezone)
    staging = Staging(pipeline.store.segments.place, 0, rows, refuse)
    frame = with_integers(frame)
    check(rows, frame.drop(*beside))
    share_packages(frame.sparkSession.sparkContext)
    if pipeline.store.segments.origin is not None:
        share_keys(frame.sparkSession.sparkContext)
    if weight > 0:
        frame = without_unread(frame, table, read_columns(pipeline.program.circuit, table.name))
    found = collect(pipeline.store, frame.mapInArrow(staging, STAGED))
    good, bad = ([chunk for relation, chunk in found if relation == own] for own in (0, ~0))
    return good, bad


def without_unread(frame: DataFrame, table: Table, read: frozenset[int]) -> DataFrame:
    """The frame with NULL in columns that no operator reads, so that Spark need not read them either.

    A column that must not be NULL, or says whether a row is one of the table, stays: it is to be checked yet.
    """
    read |= table.judged_by
    unread = {field.name.lower() for i, field in enumerate(table.schema) if i not in read and field.nullable}
    return frame.select(
        *(
            lit(None).cast(column.dataType).alias(column.name)
            if column.name.lower() in unread
            else col(quoted(column.name))
            for column in frame.schema
        )
    )


def check(reader: Reader, frame: DataFrame) -> None:
    """DataError unless the frame's columns fit the table."""
    fields = json.loads(frame.schema.json())["fields"]
    try:
        types = [
            pa.null() if f["type"] == "void" else outside_type(kept_type(f["type"]), pa.int32())
            for f in fields
        ]
    except UnsupportedType as error:
        raise DataError(f"table '{reader.table.name}': type {error} is not supported yet; cast it") from None
    schema = pa.schema([pa.field(f["name"], type_) for f, type_ in zip(fields, types, strict=True)])
    none = pa.RecordBatch.from_arrays([pa.nulls(0, type_) for type_ in types], schema=schema)
    for _ in reader(none):
        pass


def collect(store: Store, staged: DataFrame) -> list[tuple[int, Chunk]]:
    """(relation, chunk) of all tasks, in order. Raises the first task's Error, and then keeps no file."""
    return gathered(store, staged.collect())


def gathered(store: Store, staged: Sequence[tuple[int, bytes]]) -> list[tuple[int, Chunk]]:
    """The same, of rows of STAGED."""
    return [(relation, chunk) for relation, _, chunk in ordered(store, staged)]


def ordered(store: Store, staged: Sequence[tuple[int, bytes]]) -> list[tuple[int, Order, Chunk]]:
    """The same, with what orders them."""
    found = [(relation, order, chunk) for relation, chunks in whole(store, staged) for order, chunk in chunks]
    found.sort(key=lambda each: each[:2])  # of one table an order is of one kind
    return found


def whole(store: Store, staged: Sequence[tuple[int, bytes]]) -> list[tuple[int, list[tuple[Order, Chunk]]]]:
    """The values of rows of STAGED. Raises the first task's Error, and then keeps no file."""
    values = [(relation, pickle.loads(pickled)) for relation, pickled in staged]
    for _, value in values:
        if isinstance(value, Error):
            give_up(store, staged)
            raise value
    return values


def give_up(store: Store, staged: Sequence[tuple[int, bytes]]) -> None:
    """Keep none of the files that rows of STAGED refer to."""
    values = [value for _, pickled in staged if isinstance(value := pickle.loads(pickled), list)]
    store.discard({chunk.segment for value in values for _, chunk in value})
