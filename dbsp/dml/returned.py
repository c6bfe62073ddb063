"""What RETURNING gives: expressions over the rows that a statement has written, each as often as it was.

of INSERT and UPDATE π[e](the rows that come)        of DELETE π[e](those that go)
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.nodes import columns_of
from dbsp.circuits.traces.zset import ZSet
from dbsp.queries.answer import answer
from dbsp.queries.plans import Plans
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.plans.program import Table
from dbsp.views.view import Contents


def returned(
    written: ZSet,
    table: Table,
    columns: Sequence[str] | None,
    select: str,
    plans: Plans,
    now: datetime | None = None,
) -> pa.RecordBatch:
    """columns: in lower case, of the rows in their order; []: all; None: they are those of `select`, which
    reads the table, and come in no order. now: what now() is. Raises DataError for a column that gets its
    DEFAULT with the step.
    """
    rows = written.take(np.repeat(np.arange(len(written)), np.maximum(written.weights, 0))).rows
    rows = pa.RecordBatch.from_arrays(rows.columns, schema=arrow_schema(table))
    names = [one.name.lower() for one in table.schema]
    asked = select.lower() if columns is None else list(columns) or names
    waits = {one.column for one in table.defaults if rows.column(one.column).null_count}
    waits |= {one.column for one in table.formulas if not waits.isdisjoint(columns_of(one.value))}
    for place in sorted(waits):
        if names[place] in asked:
            column = table.schema[place].name
            what = "DEFAULT" if any(place == one.column for one in table.defaults) else "value"
            raise DataError(
                f"RETURNING: column '{column}' of '{table.name}' gets its {what} with the step; "
                "give it a value, or ask for it by SELECT after the commit"
            )
    if columns is None or not {*columns} <= {*names}:  # who compiles says what there is
        contents = Contents(table.name, rows.schema, [ZSet(rows, np.ones(rows.num_rows, dtype=np.int64))])
        return answer(plans, select, {table.name: contents}, now=now).batch()
    return rows.select([names.index(column) for column in columns]) if columns else rows
