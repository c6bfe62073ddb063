"""Bytes as digits."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.targets.databases.texts import as_hex


@given(
    st.lists(st.none() | st.binary(max_size=3), max_size=5), st.integers(0, 3), st.sampled_from(["", "\\x"])
)
def test_two_digits_a_byte_of_a_slice_too(values: list[bytes | None], start: int, prefix: str) -> None:
    found = as_hex(pa.array(values, pa.binary()).slice(start), prefix)
    assert found.to_pylist() == [None if v is None else prefix + v.hex() for v in values[start:]]
