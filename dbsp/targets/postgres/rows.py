r"""Arrow rows as the CSV that COPY reads: NULL is nothing, texts stand in quotes, bytes are \x and digits."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.types as pt
from pyarrow import csv

from dbsp.targets.databases.texts import as_hex

_OPTIONS = csv.WriteOptions(include_header=False)


def as_csv(rows: pa.RecordBatch) -> memoryview:
    """Of the types that a target in Postgres can have."""
    columns = [as_hex(column, "\\x") if pt.is_binary(column.type) else column for column in rows.columns]
    written = io.BytesIO()
    csv.write_csv(pa.RecordBatch.from_arrays(columns, names=rows.schema.names), written, _OPTIONS)
    return written.getbuffer()
