"""As few bytes as hold the number: what Python says."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.rows.avro.writing.decimals import big_endian, shortest

EDGES = st.sampled_from(
    [sign * 2**bits + one for bits in (7, 8, 15, 63, 64, 120) for sign in (1, -1) for one in (-1, 0)]
)


@given(st.lists(st.integers(1 - 10**38, 10**38 - 1) | EDGES, max_size=5))
def test_the_shortest(values: list[int]) -> None:
    array = pa.array([Decimal(value) for value in values], pa.decimal128(38, 0))
    widths = [((value if value >= 0 else ~value).bit_length() // 8) + 1 for value in values]
    spelled = [value.to_bytes(width, signed=True) for value, width in zip(values, widths, strict=True)]
    assert shortest(array).to_pylist() == spelled
    assert [bytes(row) for row in big_endian(array)] == [value.to_bytes(16, signed=True) for value in values]
