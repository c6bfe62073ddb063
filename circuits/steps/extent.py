r"""Rows of a trace as somebody's input: read, merged and laid out by the task that is given them.

So whoever deals them out holds references. A range of the sort key is merged as one batch, so that what
cancels in it is not there; of a log, which has no order, the rows of a chunk are as they were written.

What a trace has changed by is the chunks that it has, less those that it had:

    I(m) − I(n) = Σ (live(m) \ live(n)) − Σ (live(n) \ live(m))

and a chunk that is merged away meanwhile cancels against what it was merged into.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.narrow.batch import from_stored
from dbsp.circuits.traces.spine import END
from dbsp.circuits.traces.stored import StoredBatch
from dbsp.circuits.traces.zset import WEIGHT


@dataclass(frozen=True)
class Extent:
    """The rows of `chunks`, less those of `minus`, with low <= sort key < high, about `rows` of them.

    columns: of each of the schema's the stored one, which may be narrower; a constant; what is computed of
    the stored ones; or None, for NULL. owner: whose rows they are, in words.
    """

    chunks: tuple[Chunk, ...]
    layout: Layout
    schema: pa.Schema
    columns: tuple[int | pa.Scalar | Expression | None, ...]
    owner: str
    rows: int
    low: int = 0
    high: int = END
    minus: tuple[Chunk, ...] = ()

    def open(self, segments: Segments) -> pa.RecordBatch:
        """The columns, then the weights. Raises DamagedChunk."""
        parts = [self._stored(chunk, segments).between(self.low, self.high) for chunk in self.chunks]
        parts += [-self._stored(chunk, segments).between(self.low, self.high) for chunk in self.minus]
        whole = (parts[0] if len(parts) == 1 else Batch.merge(self.layout, parts)).zset
        if self.minus and self.layout.bag:  # in which a row is listed as often as it came
            whole = whole.consolidate()
        columns = [
            _made(whole.rows, column, field.type)
            for column, field in zip(self.columns, self.schema, strict=True)
        ]
        weight = pa.field(WEIGHT, pa.int64(), nullable=False)
        return pa.RecordBatch.from_arrays(
            [*columns, int64_array(whole.weights)], schema=self.schema.append(weight)
        )

    def _stored(self, chunk: Chunk, segments: Segments) -> Batch:
        def read() -> Batch:
            return from_stored(segments.open(chunk, self.layout.stored_schema, self.owner), self.layout)

        return StoredBatch(chunk.rows, chunk.low, chunk.high, read)

    def of_log(self) -> list[Extent]:
        """The same of a log: chunk by chunk."""
        return [replace(self, chunks=(chunk,), rows=chunk.rows) for chunk in self.chunks]

    def in_ranges(self, count: int) -> list[Extent]:
        """Cut into so many ranges of the sort keys that there are, some of which may have no chunks.

        Keys are hashes, so that ranges have about the same number of rows: of few keys, some have more.
        """
        both = (*self.chunks, *self.minus)
        low = min(chunk.low for chunk in both)
        width = max(chunk.high for chunk in both) + 1 - low
        cuts = [low + width * i // count for i in range(count + 1)]
        return [self._between(low, high, -(-self.rows // count)) for low, high in pairwise(cuts)]

    def _between(self, low: int, high: int, rows: int) -> Extent:
        inside, gone = (
            tuple(chunk for chunk in chunks if chunk.low < high and chunk.high >= low)
            for chunks in (self.chunks, self.minus)
        )
        return replace(self, chunks=inside, minus=gone, rows=rows, low=low, high=high)


def _made(
    rows: pa.RecordBatch, column: int | pa.Scalar | Expression | None, data_type: pa.DataType
) -> pa.Array:
    if column is None:
        return pa.nulls(rows.num_rows, data_type)
    if isinstance(column, pa.Scalar):
        return pa.repeat(column, rows.num_rows)
    if not isinstance(column, int):
        return evaluate(column, rows)
    stored = rows.column(column)
    return stored if stored.type == data_type else stored.cast(data_type)
