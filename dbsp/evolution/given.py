"""What a state can give of a new program's streams: those whose integral it holds whole.

A trace gives every stream of the same rows whose columns it has, in any order. A column that a table has
gained is NULL in the rows that were there, or its DEFAULT; one whose type is wider than it was is cast.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.identity.streams import Stream
from dbsp.circuits.traces.batch import Batch, Layout, StoredBatch
from dbsp.circuits.traces.chunk import Chunk
from dbsp.circuits.traces.ranges import in_ranges
from dbsp.circuits.traces.segments import Segments
from dbsp.circuits.traces.spine import Spine
from dbsp.circuits.traces.zset import WEIGHT, ZSet
from dbsp.sql.plans.program import Table
from dbsp.state.records.manifest import Columns, Held

# rows of a trace that are fed to one step: as many as fit in memory several times over
PIECE = 1 << 18


@dataclass(frozen=True)
class Kept:
    """A trace or log that is there. owner: the view or table whose rows it holds, in words."""

    name: str
    held: Held
    spine: Spine
    owner: str

    def pieces(self, segments: Segments) -> Iterator[ZSet]:
        """All of it in pieces of about PIECE rows, each consolidated: what cancels lies in one piece."""
        layout = self.held.stored()
        batches = [self._open(chunk, layout, segments) for chunk in self.spine.live]
        if self.held.log:
            for batch in batches:
                for start in range(0, len(batch), PIECE):
                    yield batch.slice(start, min(start + PIECE, len(batch))).zset
            return
        for parts in in_ranges(batches, PIECE):
            yield Batch.merge(layout, parts).zset

    def _open(self, chunk: Chunk, layout: Layout, segments: Segments) -> Batch:
        def read() -> Batch:
            return Batch.from_stored(segments.open(chunk, layout.stored_schema, self.owner), layout)

        return StoredBatch(chunk.rows, chunk.low, chunk.high, read)


@dataclass(frozen=True)
class Given:
    """A stream that a trace gives. columns: for each of the node's, how it is made of those stored."""

    kept: Kept
    columns: tuple[int | pa.Scalar | None, ...]
    schema: pa.Schema

    def inputs(self, segments: Segments) -> Iterator[pa.RecordBatch]:
        """Pieces of the stream, as a step takes them: the columns, then the weights."""
        weight = pa.field(WEIGHT, pa.int64(), nullable=False)
        for piece in self.kept.pieces(segments):
            columns = [
                _made(piece.rows, column, field.type)
                for column, field in zip(self.columns, self.schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(
                [*columns, int64_array(piece.weights)], schema=self.schema.append(weight)
            )


def _made(rows: pa.RecordBatch, column: int | pa.Scalar | None, data_type: pa.DataType) -> pa.Array:
    if column is None:
        return pa.nulls(rows.num_rows, data_type)
    if isinstance(column, pa.Scalar):
        return pa.repeat(column, rows.num_rows)
    return (
        rows.column(column) if rows.column(column).type == data_type else rows.column(column).cast(data_type)
    )


@dataclass(frozen=True)
class Holdings:
    """kept: the traces that are whole. was: digests of columns as the old program had them, by those of the
    new one. constants: of columns that are new. left: what is left of traces that are collected, each with
    its readers.
    """

    kept: tuple[Kept, ...]
    was: Mapping[str, str]
    constants: Mapping[str, pa.Scalar]
    left: tuple[tuple[Kept, frozenset[str]], ...] = ()

    def for_readers(self, readers: Collection[str]) -> Holdings:
        """What is enough for readers who will look at no other rows: but for theirs, there may be more."""
        enough = tuple(kept for kept, known in self.left if known.issuperset(readers))
        return replace(self, kept=enough)

    def find(self, stream: Stream, schema: pa.Schema, needed: Collection[int]) -> Given | None:
        """The stream, with NULL in columns that aren't needed; of the smallest trace that has it."""
        found = [
            Given(kept, columns, schema)
            for kept in self.kept
            if kept.held.rows == stream.rows
            and (columns := self._columns(kept.held, stream, needed)) is not None
        ]
        return min(found, key=lambda given: given.kept.spine.rows, default=None)

    def _columns(
        self, held: Held, stream: Stream, needed: Collection[int]
    ) -> tuple[int | pa.Scalar | None, ...] | None:
        columns: list[int | pa.Scalar | None] = []
        for i, column in enumerate(stream.columns):
            stored = column if column in held.columns else self.was.get(column)
            if i not in needed:
                columns.append(None)
            elif stored in held.columns:
                columns.append(held.columns.index(stored))
            elif column in self.constants:
                columns.append(self.constants[column])
            else:
                return None
        return tuple(columns)


def changed_columns(
    table: Table, new: Columns, old: Columns
) -> tuple[dict[str, str], dict[str, pa.Scalar], list[str]]:
    """(was, constants, why not): what of a table's columns is another in the new program; see `Holdings`."""
    was: dict[str, str] = {}
    constants: dict[str, pa.Scalar] = {}
    wrong: list[str] = []
    defaults = {table.schema[one.column].name: one for one in table.defaults}
    for name, field in new.fields.items():
        column = new.column(table.name, name)
        before = old.fields.get(name)
        if before is not None:
            if before.nullable and not field.nullable:
                wrong.append(
                    f"table '{table.name}': column '{name}' is never NULL now, and rows that are there may "
                    "have none; leave it nullable"
                )
            elif before.type != field.type and not is_wider(before.type, field.type):
                wrong.append(
                    f"table '{table.name}': column '{name}' was {before.type} and is {field.type}, which not "
                    "every value is; add a column of another name"
                )
            elif column != old.column(table.name, name):
                was[column] = old.column(table.name, name)
        elif name in defaults:
            if not defaults[name].is_constant:
                wrong.append(
                    f"table '{table.name}': the DEFAULT of column '{name}' is of the moment at which a row "
                    "comes, and there are rows already; give it a constant, or none"
                )
            else:
                one = pa.RecordBatch.from_arrays([pa.nulls(1)], names=["row"])
                constants[column] = evaluate(defaults[name].value, one)[0]
        elif not field.nullable:
            wrong.append(
                f"table '{table.name}': column '{name}' is NOT NULL, and rows that are there have no value; "
                "give it a DEFAULT"
            )
        else:
            constants[column] = pa.scalar(None, field.type)
    return was, constants, wrong


def is_wider(old: pa.DataType, new: pa.DataType) -> bool:
    """Whether a cast keeps every value apart."""
    if pt.is_signed_integer(old) and pt.is_signed_integer(new):
        return bool(old.bit_width < new.bit_width)
    if pt.is_floating(new) and pt.is_float64(new):
        return bool(pt.is_float32(old) or (pt.is_signed_integer(old) and old.bit_width <= 32))
    if pt.is_decimal128(old) and pt.is_decimal128(new):
        return bool(old.scale <= new.scale and old.precision - old.scale <= new.precision - new.scale)
    return False
