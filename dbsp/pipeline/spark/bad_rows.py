"""What a source that keeps bad rows brings that is no row of its table.

Spark says of each record whether it can be read, and which columns that must have a value have none. So a
good row carries three NULLs, and a bad one where it comes from, its text and the reason. What Spark doesn't
know, as what a record of a changelog says, the reader refuses: what it can't name all of it is looked for, by
halving its batch until what is refused is alone.

Cost: of a batch without bad rows a look at one column; of k bad ones among n that the reader refuses
O((n + k) log n).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import coalesce, col, lit, struct, to_json, when
from pyspark.sql.functions import count as count_of

from dbsp.circuits.columns.arrow import take
from dbsp.circuits.columns.forms.broken_text import decoded, is_broken
from dbsp.circuits.errors import DataError
from dbsp.circuits.operators.inputs.bad import BAD_ROWS, REFUSED_SCHEMA
from dbsp.circuits.operators.inputs.late import row_text
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.pipeline.deltas.absences import origin_of
from dbsp.pipeline.spark.misread import MISREAD, Text, text_of
from dbsp.pipeline.spark.records import OF_MESSAGES, Records
from dbsp.pipeline.spark.staging import STAGED, Order, Reader, Staging, check, without_unread
from dbsp.pipeline.spark.staging import Rows as PlainRows
from dbsp.rows.binary import CORRUPT, WHY
from dbsp.rows.incoming import BadRow
from dbsp.running.queue import Rows
from dbsp.running.spark.intervals import quoted, with_integers
from dbsp.sql.plans.program import ENVELOPES, Table
from dbsp.views.view import Contents

log = logging.getLogger("dbsp")

# where a row stands, of a source that tells it
PLACE = "__origin_place"
_BESIDE = {CORRUPT, WHY, PLACE, *OF_MESSAGES}
_ORIGIN, _TEXT, _REASON = MARKS = ("__bad_origin", "__bad_text", "__bad_reason")


def corrupt_column(table: Table) -> str:
    """DDL of a column beside the table's, in which Spark puts what it can't read; none of other formats."""
    form = (table.format or "").lower()
    return f", {CORRUPT} STRING" if table.keeps_bad_rows and form in ("csv", "json") else ""


def marks(
    table: Table, frame: DataFrame, origin: Column | None = None, one_a_key: bool = False
) -> list[Column]:
    """MARKS, NULL of a good row. frame: as Spark reads the source. origin: of each message.

    one_a_key: good rows of which several have one key are bad. Which of them was meant nobody knows.
    """
    there = {name.lower() for name in frame.columns}
    reasons: list[tuple[Column, Column]] = []
    if CORRUPT in there:
        said = lit(MISREAD)
        reasons.append((col(CORRUPT).isNotNull(), coalesce(col(WHY), said) if WHY in there else said))
    for field in table.schema if table.changelog is None else ():
        needed = not field.nullable or field.name in table.primary_key
        if needed and field.name not in table.filled and field.name.lower() in there:
            declared = f"column '{field.name}' ({field.type_name} NOT NULL)"
            reasons.append(
                (col(quoted(field.name)).isNull(), lit(f"no value; a row needs one in {declared}"))
            )
    if not reasons:
        return [lit(None).cast("string").alias(mark) for mark in MARKS]
    bad = reduce(or_, (condition for condition, _ in reasons))
    if one_a_key:
        by_key = Window.partitionBy(*(col(quoted(name)) for name in table.primary_key))
        listed = ", ".join(table.primary_key)
        several = ~bad & (count_of(when(~bad, 1)).over(by_key) > 1)
        reasons.append((several, lit(f"several rows have this key ({listed}); a key has one row")))
        bad |= several
    whole = to_json(struct(*(quoted(name) for name in frame.columns if name not in _BESIDE)))
    text = coalesce(col(CORRUPT), whole) if CORRUPT in there else whole
    reason = reduce(lambda chosen, one: chosen.when(*one), reasons[1:], when(*reasons[0]))
    if origin is None:
        origin = col("_metadata.file_path") if table.is_file else lit(table.format)
    return [when(bad, origin).alias(_ORIGIN), when(bad, text).alias(_TEXT), reason.alias(_REASON)]


@dataclass(frozen=True)
class Keeping:
    """A `Refusing`. source: of a record whose file isn't known. text: that records are read from."""

    table: Table
    source: str
    text: Text | None = None

    def __call__(
        self, read: Reader, batch: pa.RecordBatch, bad: list[pa.RecordBatch]
    ) -> Iterator[tuple[Order, pa.RecordBatch, np.ndarray]]:
        good, refused = self._divided(batch)
        bad += refused
        yield from self._read(read, good, bad)

    def _divided(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, list[pa.RecordBatch]]:
        """The good rows, without marks; and the bad ones."""
        own = batch.select([name for name in batch.schema.names if name not in MARKS])
        reasons = batch.column(_REASON)
        if reasons.null_count == len(reasons):
            return own, []
        is_bad = reasons.is_valid()
        origin, text, reason = (batch.column(mark).filter(is_bad) for mark in MARKS)
        if self.text is not None:
            reason = self._explained(reason, text, own.filter(is_bad))
        return own.filter(pc.invert(is_bad)), [self._refused(origin, text, reason)]

    def _explained(self, reason: pa.Array, text: pa.Array, read: pa.RecordBatch) -> pa.Array:
        """The reasons, with what was misread. read: what Spark has made of the records."""
        assert self.text is not None
        is_misread = pc.equal(reason, MISREAD)
        more = self.text.reasons(text.filter(is_misread), read.filter(is_misread))
        return pc.replace_with_mask(reason, is_misread, more)

    def _read(
        self, read: Reader, batch: pa.RecordBatch, bad: list[pa.RecordBatch]
    ) -> Iterator[tuple[Order, pa.RecordBatch, np.ndarray]]:
        try:
            parts = list(read(batch))
        except BadRow as error:
            if error.refused is not None:
                yield from self._read(read, self._without(error.refused, batch, bad), bad)
                return
            if batch.num_rows > 1:
                half = batch.num_rows // 2
                yield from self._read(read, batch.slice(0, half), bad)
                yield from self._read(read, batch.slice(half), bad)
                return
            bad.append(self._refused(pa.array([self.source]), row_text(batch), pa.array([error.problem])))
        else:
            yield from parts

    def _without(
        self, refused: Mapping[int, str], batch: pa.RecordBatch, bad: list[pa.RecordBatch]
    ) -> pa.RecordBatch:
        """The rows that nothing is known against yet."""
        at = np.array([*refused], np.int64)
        origins = pa.repeat(self.source, len(at))
        bad.append(self._refused(origins, row_text(take(batch, at)), pa.array([*refused.values()])))
        good = np.ones(batch.num_rows, dtype=np.bool_)
        good[at] = False
        return take(batch, np.flatnonzero(good))

    def _refused(self, origin: pa.Array, text: pa.Array, reason: pa.Array) -> pa.RecordBatch:
        if is_broken(text):  # what is no UTF-8 ends whoever shows it, or is sent it
            text = decoded(text)
        columns = [pa.repeat(self.table.name, len(text)), origin, text, reason]
        return pa.RecordBatch.from_arrays(columns, schema=REFUSED_SCHEMA)


def keeping_of(table: Table, read: frozenset[int] | None) -> Keeping | None:
    """None: the table keeps no bad rows. read: the columns that something reads; None: all."""
    return Keeping(table, origin_of(table), text_of(table, read)) if table.keeps_bad_rows else None


def opened(bad: Rows, segments: Segments) -> pa.RecordBatch:
    """Bad rows, and their weights."""
    stored = REFUSED_SCHEMA.append(pa.field(WEIGHT, pa.int64(), nullable=False))
    return segments.open(bad, stored, BAD_ROWS) if isinstance(bad, Chunk) else bad


class Refusals:
    """How many bad rows each table has had, and may have; what is said of those of a step."""

    def __init__(self) -> None:
        self._had: dict[str, int] = {}
        self._of_step: dict[str, tuple[int, str]] = {}

    def add(self, table: Table, bad: Rows, kept: Callable[[], Contents], segments: Segments) -> None:
        """Count a step's. kept: `bad_rows` so far. Raises DataError where there are too many."""
        so_far, example = self._of_step.get(table.name, (0, ""))
        count = bad.rows if isinstance(bad, Chunk) else bad.num_rows
        self._of_step[table.name] = so_far + count, example or _example(bad, segments)
        if table.max_bad_rows is None:
            return
        if table.name not in self._had:
            relations = kept().to_arrow().column("relation")
            self._had[table.name] = pc.sum(pc.equal(relations, table.name)).as_py() or 0
        self._had[table.name] += count
        if self._had[table.name] > table.max_bad_rows:
            raise DataError(
                f"{table.location}: table '{table.name}': more than max_bad_rows = {table.max_bad_rows} rows "
                f"are bad, one of them {_example(bad, segments)}"
            )

    def made(self, step: int) -> None:
        """The step is there: say what isn't in its tables."""
        told, self._of_step = self._of_step, {}
        for table, (count, example) in told.items():
            rows = "a row is" if count == 1 else f"{count:,} rows are"
            log.warning(
                "step %d: table '%s': %s bad, and in the view %s: %s", step, table, rows, BAD_ROWS, example
            )

    def forget(self) -> None:
        """A step wasn't made: what was counted is counted again."""
        self._had.clear()
        self._of_step.clear()


def _example(bad: Rows, segments: Segments) -> str:
    _, origin, text, reason, _ = opened(bad, segments).slice(0, 1).columns
    return f"from {origin[0]}: {reason[0]}: {str(text[0])[:200]}"


def staged(
    opened: DataFrame, relation: int, table: Table, timezone: str, place: str, read: frozenset[int]
) -> DataFrame:
    """STAGED of a frame as `open_source` gives it. relation: the number of the table. place: see `Segments`.

    read: the columns that something reads. Raises DataError for columns that don't fit the table.
    """
    reader = Records(table, timezone) if table.changelog else PlainRows(table, 1, timezone)
    frame = with_integers(opened)
    keeping = keeping_of(table, read)
    check(reader, frame.drop(*MARKS))
    # a text is bad whoever reads its columns; those of an envelope are within others
    if table.changelog not in ENVELOPES and keeping is None:
        frame = without_unread(frame, table, read)
    return frame.mapInArrow(Staging(place, relation, reader, keeping), STAGED)
