"""What inserted rows have where they are given nothing, for the statements after it to see."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.functions.evaluate import evaluate
from dbsp.sql.plans.program import Table

_NOTHING = pa.RecordBatch.from_arrays([pa.nulls(1)], names=["clock"])


def with_defaults(table: Table, rows: pa.RecordBatch) -> pa.RecordBatch:
    """A DEFAULT that is a value stands there; one of the clock, or drawn, is NULL until the step."""
    columns = rows.columns
    for default in table.defaults:
        given = columns[default.column]
        if given.null_count and default.is_constant:
            columns[default.column] = pc.fill_null(given, evaluate(default.value, _NOTHING)[0])
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)
