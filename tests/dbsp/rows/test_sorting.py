"""One order of rows: that of Python's sort by the order's keys, then by the rows, NULL first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.sorting import sort_rows
from dbsp.sql.plans.calls import SortOrder

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
ROW = st.tuples(st.integers(-2, 2) | st.none(), st.sampled_from([None, "", "x", "y"]), st.integers(1, 2))


def nulls_first(value: Any) -> tuple[bool, Any]:
    return (value is not None, 0 if value is None else value)


@given(st.lists(ROW, max_size=8), st.booleans(), st.booleans())
def test_rows_are_in_order(rows: list[Any], descending: bool, nulls_last: bool) -> None:
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(SCHEMA)]
    weights = np.array([row[2] for row in rows], np.int64)
    given_ = ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), weights)
    found = sort_rows(given_, [SortOrder(Column(0, pa.int64()), descending, nulls_last)])

    def by(row: Any) -> Any:
        number = 0 if row[0] is None else -row[0] if descending else row[0]
        null = (row[0] is None) == nulls_last
        text = (row[1] is not None, row[1] or "")
        return null, number, nulls_first(row[0]), text, row[2]

    listed = [
        (*row.values(), weight) for row, weight in zip(found.rows.to_pylist(), found.weights, strict=True)
    ]
    assert listed == sorted(rows, key=by)
