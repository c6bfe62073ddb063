"""Arrow rows as the CSV that COPY reads: NULL is nothing, and every text stands in quotes."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from pyarrow import csv

_DIGITS = np.frombuffer(bytes(range(256)).hex().encode(), np.uint8).reshape(256, 2)
_OPTIONS = csv.WriteOptions(include_header=False)


def as_csv(rows: pa.RecordBatch) -> memoryview:
    """Of the types that a target in Postgres can have."""
    columns = [_as_hex(column) if pt.is_binary(column.type) else column for column in rows.columns]
    written = io.BytesIO()
    csv.write_csv(pa.RecordBatch.from_arrays(columns, names=rows.schema.names), written, _OPTIONS)
    return written.getbuffer()


def _as_hex(values: pa.Array) -> pa.Array:
    r"""As `bytea` is spelled: \x, and two digits a byte."""
    large = values.cast(pa.large_binary())
    _, ends, data = large.buffers()
    offsets = np.frombuffer(ends, np.int64)[large.offset : large.offset + len(large) + 1]
    given = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]] if data else np.empty(0, np.uint8)
    digits = [pa.py_buffer(2 * (offsets - offsets[0])), pa.py_buffer(_DIGITS[given])]
    spelled = pa.Array.from_buffers(pa.large_string(), len(large), [None, *digits])
    prefix, nothing, none = (pa.scalar(value, pa.large_string()) for value in ("\\x", "", None))
    return pc.if_else(values.is_valid(), pc.binary_join_element_wise(prefix, spelled, nothing), none)
