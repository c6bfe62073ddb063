"""What is read of stacked rows is what their concatenation has."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.arrow import concat
from dbsp.circuits.columns.stacked import Stacked
from tests.generators.columns.zsets import zsets

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string())])


@given(st.lists(zsets(SCHEMA), min_size=1, max_size=3), st.data())
def test_columns_and_values(parts: list, data: st.DataObject) -> None:  # type: ignore[type-arg]
    batches = [part.rows for part in parts]
    whole, stacked = concat(SCHEMA, batches), Stacked(SCHEMA, batches)
    assert (stacked.schema, stacked.num_rows, stacked.num_columns) == (SCHEMA, whole.num_rows, 2)
    places = st.integers(0, whole.num_rows - 1) if whole.num_rows else st.nothing()
    positions = np.array(data.draw(st.lists(places)), dtype=np.int64)
    for i in range(2):
        assert stacked.column(i).equals(whole.column(i))
        assert stacked.at(i, positions).equals(whole.column(i).take(pa.array(positions)))
