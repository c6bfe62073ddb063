"""Ties of a batch in an order, as a sort in Python has them; they are sorted once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.blocks.ties import ties_in_order

SCHEMA = pa.schema([("t", pa.string()), ("n", pa.int64())])
rows = st.lists(st.tuples(st.sampled_from(["", "a", "ab", "b"]), st.integers(-2, 2)), unique=True)


@given(rows, st.integers(0, 20), st.integers(0, 20), st.booleans())
def test_by_the_order_and_then_by_all(listed: list[Any], begin: int, end: int, descending: bool) -> None:
    begin, end = sorted((min(begin, len(listed)), min(end, len(listed))))
    columns = [pa.array([row[i] for row in listed], field.type) for i, field in enumerate(SCHEMA)]
    held = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    batch = Batch(np.zeros(len(listed), np.uint64), held, np.ones(len(listed), np.int64))
    order = (SortKey(1, descending),)
    found = ties_in_order(batch, begin, end, order)
    within = listed[begin:end]
    assert [within[i] for i in found.tolist()] == sorted(
        within, key=lambda r: (-r[1] if descending else r[1], r)
    )
    assert ties_in_order(batch, begin, end, order) is found
