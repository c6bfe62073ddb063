"""Rows that were there and a delta are searched as one table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.zset import ZSet
from dbsp.dml.changed import Changed
from tests.dbsp.views.held import contents
from tests.dbsp.views.test_searched import PARTS, SCHEMA, A


@given(PARTS, PARTS, st.lists(A, max_size=3), st.integers(0, 9))
def test_both_are_searched(before: Any, delta: Any, values: Any, most: int) -> None:
    wanted = pa.RecordBatch.from_arrays([pa.array(values, pa.int64())], names=["a"])
    changed = Changed(contents(SCHEMA, before), contents(SCHEMA, delta).parts)
    whole = contents(SCHEMA, before + delta)
    assert changed.zset == whole.zset
    found, expected = changed.among([0], wanted, most), whole.among([0], wanted, most)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert ZSet.sum(SCHEMA, found) == ZSet.sum(SCHEMA, expected)
