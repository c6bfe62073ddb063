"""Columns as Evaluator.java is given them, and the columns that it gives back."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dbsp.circuits.columns.arrow import retyped
from dbsp.circuits.columns.forms.outside import from_outside, to_spark

ROWS = 1 << 14  # of a request
BYTES = 1 << 24


def given(columns: Sequence[pa.Array]) -> pa.RecordBatch:
    """The arguments, by their places."""
    sent = [to_spark(column) for column in columns]
    return pa.RecordBatch.from_arrays(sent, [str(i) for i in range(len(sent))])


def taken(made: Sequence[pa.Array], data_type: pa.DataType) -> pa.Array:
    """made: what the requests gave, at least one."""
    return retyped(from_outside(pa.concat_arrays(made), data_type), data_type)


def rows_of_a_request(rows: pa.RecordBatch) -> int:
    """How many of them, at least one."""
    of_bytes = BYTES * int(rows.num_rows) // max(int(rows.nbytes), 1)
    return min(ROWS, max(of_bytes, 1))
