"""Writing batches with narrow columns, and merging them by their codes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import from_fixed_values, int64_array
from dbsp.circuits.columns.narrow.column import Narrow
from dbsp.circuits.columns.narrow.joining import joined
from dbsp.circuits.columns.narrow.packing import fewer, narrowed
from dbsp.circuits.traces.batch import Batch, consolidated
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.narrow.batch import Column, NarrowBatch, plain

# of a chunk's text once it is plain: far fewer than the 2 GiB of an Arrow column, for who reads it
TEXT_BYTES = 1 << 28


def parts(batch: Batch) -> list[Batch]:
    """The batch in stretches whose text has about TEXT_BYTES at most, if it is plain.

    Of text that repeats a merge moves codes, so that nobody else would notice how much there is.
    """
    columns = (batch.stored_column(i) for i in range(len(batch.schema)))
    texts = [column for column in columns if isinstance(column, Narrow) and column.dictionary is not None]
    if not texts or not len(batch):
        return [batch]
    ends = sum(column.text_bytes() for column in texts).cumsum()  # type: ignore[union-attr]
    cuts = ends.searchsorted(np.arange(TEXT_BYTES, int(ends[-1]), TEXT_BYTES))
    edges = np.unique(np.concatenate([[0], cuts, [len(batch)]])).tolist()
    return [batch.slice(first, last) for first, last in pairwise(edges)]


def to_narrow(batch: Batch, layout: Layout) -> pa.RecordBatch:
    """The batch to be stored with its own schema."""
    keys, weights = from_fixed_values(batch.keys, pa.uint64()), int64_array(batch.weights)
    # sort keys are spread over all of 64 bits, but in a log, where there are none
    stored = [narrowed(keys.view(pa.int64())) if batch.first == batch.last else keys]
    for i in range(len(layout.schema)):
        column = batch.stored_column(i)
        stored.append(fewer(column) if isinstance(column, Narrow) else narrowed(column))
    stored.append(narrowed(weights))
    pairs = [
        each.stored(field.name) if isinstance(each, Narrow) else (field, each)
        for field, each in zip(layout.stored_schema, stored, strict=True)
    ]
    schema = pa.schema([field for field, _ in pairs])
    return pa.RecordBatch.from_arrays([column for _, column in pairs], schema=schema)


def merge(layout: Layout, batches: list[Batch]) -> Batch:
    """The sum of sorted batches, as `Batch.merge` has it; columns that are narrow stay so."""
    batches = [batch for batch in batches if len(batch)]
    if len(batches) < 2 or not any(batch.is_narrow for batch in batches):
        return Batch.merge(layout, batches)
    columns = _joined(layout, batches)
    codes = [column.codes if isinstance(column, Narrow) else column for column in columns]
    rows = pa.RecordBatch.from_arrays(codes, names=layout.schema.names)
    keys, weights = (
        np.concatenate([getattr(batch, part) for batch in batches]) for part in ("keys", "weights")
    )
    merged = consolidated(layout, keys, rows, weights, presorted=True)
    columns = [
        column.with_codes(found) if isinstance(column, Narrow) else found
        for column, found in zip(columns, merged.rows.columns, strict=True)
    ]
    return _of(layout, merged.keys, columns, merged.weights)


def appended(layout: Layout, batches: list[Batch]) -> Batch:
    """A log's batches, one after the other; columns that are narrow stay so."""
    weights = np.concatenate([np.zeros(0, np.int64), *(batch.weights for batch in batches)])
    columns = _joined(layout, batches) if batches else layout.nothing.columns
    return _of(layout, np.zeros(len(weights), np.uint64), columns, weights)


def _joined(layout: Layout, batches: Sequence[Batch]) -> list[Column]:
    """What is summed is plain."""
    summed = {*layout.sums, *layout.minima, *layout.maxima}
    columns = []
    for i in range(len(layout.schema)):
        parts = [batch.stored_column(i) for batch in batches]
        columns.append(joined([*map(plain, parts)] if i in summed else parts))
    return columns


def _of(layout: Layout, keys: np.ndarray, columns: Sequence[Column], weights: np.ndarray) -> Batch:
    if any(isinstance(column, Narrow) for column in columns):
        stored = from_fixed_values(keys, pa.uint64()), columns, int64_array(weights)
        return NarrowBatch(layout.schema, *stored)
    return Batch(keys, pa.RecordBatch.from_arrays(columns, schema=layout.schema), weights)
