"""A step's changes of a view as records of a target, read task by task where its chunks lie.

append    x, w times                     for d[x] = w > 0
retract   x with `__weight` w, or |w| times x with `__op`
upsert    per key its row now, or its deletion
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.forms.outside import to_spark
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.operators.emission.trigger import STATE
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.narrow.batch import from_stored
from dbsp.circuits.traces.zset import WEIGHT, ZSet
from dbsp.rows.sorting import sort_rows
from dbsp.sql.compiler.targets.format_columns import FILLED
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.program import OP, STEP, Insert, Program
from dbsp.state.opening import segments_at
from dbsp.state.store import Store
from dbsp.views.outputs import layout_of, written_order
from dbsp.views.shapes import Records, retracts, upserts


@dataclass(frozen=True)
class Reading:
    """The function for `mapInArrow` over task numbers: a task's share of a step's changes, as records.

    A task reads a chunk. For an upsert, which needs all changes of a key at once, it reads all chunks and
    takes the keys that hash to it: of those there may be fewer `tasks`. columns: where a column comes from:
    its place in the view, a name of `FILLED`, or None for NULL. key: of an upsert.
    """

    place: str
    owner: str
    verify: bool
    chunks: tuple[Chunk, ...]
    layout: Layout
    schema: pa.Schema
    columns: tuple[int | str | None, ...]
    key: tuple[int, ...]
    step: int
    tasks: int
    order: tuple[SortOrder, ...] = ()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        segments = segments_at(self.place, self.verify)
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield self.read(segments, task)

    def read(self, segments: Segments, task: int) -> pa.RecordBatch:
        """The records of a task, with integers for months."""
        records = self._records(segments, task)
        columns = [
            to_spark(self._column(records, source, field.type))
            for source, field in zip(self.columns, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=self.schema.names)

    def _records(self, segments: Segments, task: int) -> Records:
        if not self.key:
            records = retracts(self._rows(segments, task))
            return records if WEIGHT in self.columns else records.repeated()
        delta = ZSet.sum(self.layout.schema, [self._changes(segments, chunk) for chunk in self.chunks])
        hashes = hash_rows([delta.rows.column(i) for i in self.key], len(delta))
        mine = delta.take(np.flatnonzero(hashes % np.uint64(self.tasks) == task))
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
        return from_stored(segments.open(chunk, self.layout.stored_schema, self.owner), self.layout).zset

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


def reading_of(
    program: Program,
    store: Store,
    insert: Insert,
    step: int,
    chunks: Sequence[list[object]],
    op: bool = False,
) -> Reading:
    """The reading of a step's changes, by as many tasks as there are chunks.

    op: with a last column `__op`, where the target has none.
    """
    target = program.tables[insert.target]
    # of files the step is the name of a directory
    columns = {
        column: column.name.lower() if place is None and column.name.lower() in FILLED else place
        for column, place in zip(target.schema, insert.columns, strict=True)
        if not (target.is_file and column.name.lower() == STEP)
    }
    schema = pa.schema([pa.field(column.name, column.type) for column in columns])
    sources = tuple(columns.values())
    return Reading(
        store.segments.place,
        f"the changes of view '{insert.view}' in step {step}",
        store.segments.verify,
        tuple(map(Chunk.from_json, chunks)),
        layout_of(program.circuit, insert.view),
        schema.append(pa.field(OP, pa.string())) if op else schema,
        (*sources, OP) if op else sources,
        insert.key,
        step,
        len(chunks),
        written_order(program.views[insert.view]),
    )
