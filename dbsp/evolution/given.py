"""What a state can give of a new program's streams: those whose integral it holds whole.

A trace gives every stream of the same rows whose columns it has, in any order. A column that a table has
gained is NULL in the rows that were there, or its DEFAULT, or computed of others; one whose type is wider
than it was is cast.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.expressions.nodes import Expression, columns_of, remap
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.identity.streams import Stream
from dbsp.circuits.steps.extent import Extent
from dbsp.circuits.steps.task import Input
from dbsp.circuits.traces.spine import Spine
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.types import ddl
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


@dataclass(frozen=True)
class Given:
    """A stream that a trace gives. columns: for each of the node's, how it is made of those stored."""

    kept: Kept
    columns: tuple[int | pa.Scalar | Expression | None, ...]
    schema: pa.Schema

    def inputs(self, tasks: int) -> Iterator[list[Input]]:
        """The stream in pieces: those of one step after the other, of about PIECE rows for each of the tasks.

        A piece is a range of the sort key: the nth task's lies within the nth shard, which its host wrote.
        """
        chunks = tuple(self.kept.spine.live)
        if not chunks:
            return
        layout, rows = self.kept.held.stored(), sum(chunk.rows for chunk in chunks)
        whole = Extent(chunks, layout, self.schema, self.columns, self.kept.owner, rows)
        steps = -(-rows // (PIECE * tasks))
        if self.kept.held.log:
            parts = whole.of_log()
            dealt = [parts[start : start + tasks] for start in range(0, len(parts), tasks)]
        else:
            parts = whole.in_ranges(tasks * steps)
            dealt = [[part for part in parts[step::steps] if part.chunks] for step in range(steps)]
        for pieces in filter(None, dealt):
            yield _inputs(pieces)

    @property
    def can_follow(self) -> bool:
        """Whether `since` can tell: sums of rows that have become one aren't taken back row by row."""
        layout = self.kept.held.stored()
        return not (layout.sums or layout.minima or layout.maxima)

    def since(self, before: Spine, after: Spine) -> list[Input]:
        """What the stream has changed by between two states of the trace, for one step.

        A piece is a range of the sort key with about PIECE rows that are read, of which those that were
        merged meanwhile cancel. All of it is one step's, since half of it is the contents of no moment.
        """
        had, have = ({(c.segment, c.offset): c for c in spine.live} for spine in (before, after))
        came = tuple(chunk for place, chunk in have.items() if place not in had)
        gone = tuple(chunk for place, chunk in had.items() if place not in have)
        rows = sum(chunk.rows for chunk in (*came, *gone))
        if not rows:
            return []
        layout = self.kept.held.stored()
        if self.kept.held.log:  # whose rows have no order: all that were merged are compared at once
            layout = replace(layout, bag=True)
        whole = Extent(came, layout, self.schema, self.columns, self.kept.owner, rows, minus=gone)
        if self.kept.held.log:
            return _inputs(whole.of_log() if not gone else [whole])
        parts = whole.in_ranges(-(-rows // PIECE))
        return _inputs([part for part in parts if part.chunks or part.minus])


def _inputs(pieces: Sequence[Extent]) -> list[Input]:
    ordinals = accumulate((piece.rows for piece in pieces), initial=0)
    return [Input(ordinal, piece) for ordinal, piece in zip(ordinals, pieces, strict=False)]


@dataclass(frozen=True)
class Computed:
    """value: over a table's columns, whose digests these are."""

    value: Expression
    columns: tuple[str, ...]

    def of(self, stored: Sequence[str]) -> Expression | None:
        """The same over columns that are stored; None: one that it reads isn't."""
        read = {i: self.columns[i] for i in columns_of(self.value)}
        if not {*read.values()} <= {*stored}:
            return None
        return remap(self.value, {i: stored.index(column) for i, column in read.items()})


def computed_columns(tables: Mapping[str, Table], columns: Mapping[str, Columns]) -> dict[str, Computed]:
    """Those of some tables, by their digests. columns: of the same tables."""
    found: dict[str, Computed] = {}
    for name, table in tables.items():
        of = columns[name]
        known = tuple(of.column(name, column.name) for column in table.schema)
        found |= {known[one.column]: Computed(one.value, known) for one in table.formulas}
    return found


@dataclass(frozen=True)
class Holdings:
    """kept: the traces that are whole. was: digests of columns as the old program had them, by those of the
    new one. constants: of columns that are new. left: what is left of traces that are collected, each with
    its readers. computed: columns that tables compute.
    """

    kept: tuple[Kept, ...]
    was: Mapping[str, str]
    constants: Mapping[str, pa.Scalar]
    left: tuple[tuple[Kept, frozenset[str]], ...] = ()
    computed: Mapping[str, Computed] = field(default_factory=dict)

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
    ) -> tuple[int | pa.Scalar | Expression | None, ...] | None:
        columns: list[int | pa.Scalar | Expression | None] = []
        for i, column in enumerate(stream.columns):
            stored = column if column in held.columns else self.was.get(column)
            if i not in needed:
                columns.append(None)
            elif stored in held.columns:
                columns.append(held.columns.index(stored))
            elif column in self.constants:
                columns.append(self.constants[column])
            elif column in self.computed and (made := self.computed[column].of(held.columns)) is not None:
                columns.append(made)
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
    for name, said in new.fields.items():
        column = new.column(table.name, name)
        before = old.fields.get(name)
        if name in new.computed:
            continue  # whatever was there
        if before is not None:
            if before.type != said.type and not is_wider(before.type, said.type):
                wrong.append(
                    f"table '{table.name}': column '{name}' was {ddl(before.type)} and is "
                    f"{ddl(said.type)}, which not every value is; add a column of another name"
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
        elif not said.nullable:
            wrong.append(
                f"table '{table.name}': column '{name}' is NOT NULL, and rows that are there have no value; "
                "give it a DEFAULT"
            )
        else:
            constants[column] = pa.scalar(None, said.type)
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
