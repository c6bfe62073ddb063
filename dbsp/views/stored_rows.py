"""Rows of one chunk as who looks at a view gets them: made plain when all of them are asked for, then kept.

Steps look narrow columns up where they lie; queries, pages and indexes read whole columns, again and again.
What was made plain is kept for the next one who asks, up to a number of bytes (`PlainRows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.columns.narrow.column import Narrow
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.contents import open_chunk
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.zset import ZSet


class StoredRows(ZSet):
    """The columns of a stored batch that lie at `at`, under a schema's names. To make it copies nothing."""

    def __init__(
        self, segments: Segments, chunk: Chunk, batch: Batch, at: Sequence[int], schema: pa.Schema
    ) -> None:
        self.__dict__.update(_segments=segments, _chunk=chunk, _batch=batch, _at=tuple(at), _schema=schema)

    def __len__(self) -> int:
        return len(self._stored)

    @property
    def _stored(self) -> Batch:
        return self.__dict__["_batch"]  # type: ignore[no-any-return]

    @property
    def _at(self) -> tuple[int, ...]:
        return self.__dict__["_at"]  # type: ignore[no-any-return]

    @property
    def schema(self) -> pa.Schema:
        return self.__dict__["_schema"]

    @property
    def rows(self) -> pa.RecordBatch:
        stored, segments = self._stored, self.__dict__["_segments"]
        if stored.is_narrow:
            chunk = self.__dict__["_chunk"]
            rows = segments.plain.of(chunk.segment, chunk, lambda: stored.rows)
        else:
            rows = stored.rows
        return pa.RecordBatch.from_arrays([rows.column(i) for i in self._at], schema=self.schema)

    @cached_property
    def weights(self) -> np.ndarray:
        return self._stored.weights

    def column(self, i: int) -> pa.Array:
        stored = self._stored.stored_column(self._at[i])
        return stored.values() if isinstance(stored, Narrow) else stored

    def take(self, indices: np.ndarray) -> ZSet:
        columns = [self._stored.column_at(i, indices) for i in self._at]
        rows = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        return ZSet(rows, self._stored.weights_at(indices))


def stored_rows(
    circuit: Circuit,
    node: int,
    chunk: Chunk,
    segments: Segments,
    at: Sequence[int] | None = None,
    schema: pa.Schema | None = None,
) -> StoredRows:
    """Of a node's trace or log, mapped: they stay readable when their file is deleted. at: None, all."""
    batch = open_chunk(circuit, node, chunk, segments)
    stored = batch.schema  # from here on it is open
    return StoredRows(segments, chunk, batch, range(len(stored)) if at is None else at, schema or stored)
