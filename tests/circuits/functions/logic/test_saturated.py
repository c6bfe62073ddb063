"""Sums that end at the ends of their type, or are NULL beyond one of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.circuits.functions.calling import called

INT = pa.int64()
LEAST, MOST = -(2**63), 2**63 - 1
longs = st.one_of(st.integers(-200, 200), st.integers(LEAST, MOST), st.sampled_from([LEAST, MOST]))
RANGES = {
    pa.int8(): (-(2**7), 2**7 - 1),
    pa.int32(): (-(2**31), 2**31 - 1),
    INT: (LEAST, MOST),
}


@given(
    st.lists(st.one_of(st.none(), longs), min_size=1, max_size=6),
    longs,
    st.sampled_from([*RANGES]),
    st.sampled_from(["", "below", "above"]),
)
def test_a_sum_ends_where_its_type_does(
    values: list[int | None], by: int, made: pa.DataType, null: str
) -> None:
    least, most = RANGES[made]

    def expected(value: int | None) -> int | None:
        if (
            value is None
            or (null == "below" and value + by < least)
            or (null == "above" and value + by > most)
        ):
            return None
        return max(least, min(value + by, most))

    options = {"null": null} if null else {}
    found = called("saturated_sum", made, pa.array(values, INT), pa.scalar(by, INT), **options)
    assert found == list(map(expected, values))


@pytest.mark.parametrize("data_type", [pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.date32()])
def test_times_are_the_numbers_that_they_are_stored_as(data_type: pa.DataType) -> None:
    stored: Any = pa.int32() if pa.types.is_date(data_type) else INT
    values = pa.array([0, 5, None], stored).view(data_type)
    found = called("saturated_sum", data_type, values, pa.scalar(-2, INT))
    assert pa.array(found, data_type).view(stored).to_pylist() == [-2, 3, None]
