"""What rows have where they are given nothing, for the statements after it to see."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.rows.incoming import whole_rows
from dbsp.sql.plans.program import Table


def with_defaults(table: Table, rows: pa.RecordBatch, moment: datetime | None = None) -> pa.RecordBatch:
    """A DEFAULT that is a value stands there; one of the clock is of `moment`, or else the step's, and NULL
    until then, as one that is drawn is, and what is computed of it. Raises BadRow for what breaks a CHECK.
    """
    columns, now = rows.columns, pa.array([moment], CLOCK.type)
    for default in table.defaults:
        given = columns[default.column]
        is_known = default.is_constant or (moment is not None and not default.is_drawn)
        if given.null_count and is_known:
            value = evaluate(default.value, pa.RecordBatch.from_arrays([now], names=[CLOCK.name]))
            columns[default.column] = pc.fill_null(given, value[0])
    filled = pa.RecordBatch.from_arrays(columns, schema=rows.schema)
    if not table.defaults or not (table.formulas or table.checks):
        return filled
    return whole_rows(table, without_computed(table, filled), own=True)


def without_computed(table: Table, rows: pa.RecordBatch, said: Collection[str] = ()) -> pa.RecordBatch:
    """The rows with NULL in the columns that are computed, but for those that somebody has said."""
    columns = list(rows.columns)
    for formula in table.formulas:
        if table.schema[formula.column].name not in said:
            columns[formula.column] = pa.nulls(rows.num_rows, columns[formula.column].type)
    return pa.RecordBatch.from_arrays(columns, names=rows.schema.names)
