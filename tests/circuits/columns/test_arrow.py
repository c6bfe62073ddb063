"""Views of Arrow arrays: slices, NULLs and what lies beneath them."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.arrow import fixed_values, is_true, validity


@given(st.lists(st.sampled_from([True, False, None]), max_size=20), st.integers(0, 3))
def test_null_is_neither_true_nor_valid(values: list[bool | None], before: int) -> None:
    array = pa.array([True] * before + values, pa.bool_())[before:]
    assert is_true(array).tolist() == [value is True for value in values]
    assert fixed_values(array).tolist() == [value is True for value in values]
    assert validity(array).tolist() == [value is not None for value in values]
