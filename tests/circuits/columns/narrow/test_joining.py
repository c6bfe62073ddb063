"""Columns are joined by their codes as their values are; what is left of them is written in fewer bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.narrow.column import Narrow
from dbsp.circuits.columns.narrow.joining import joined
from dbsp.circuits.columns.narrow.packing import fewer, narrowed
from tests.circuits.columns.narrow.test_column import columns, listed, reread


@given(columns(3), st.data())
def test_joined_columns_are_one_after_the_other(parts: list[pa.Array], data: st.DataObject) -> None:
    parts = [part for part in parts if len(part)] or parts[:1]
    stored = [narrowed(part) if data.draw(st.booleans()) else part for part in parts]
    for i, part in enumerate(parts):  # a piece of a merge has a part of each
        first = data.draw(st.integers(0, max(len(part) - 1, 0)))
        count = data.draw(st.integers(min(1, len(part)), len(part) - first))
        parts[i], stored[i] = part.slice(first, count), stored[i].slice(first, count)
    expected = [value for part in parts for value in listed(part)]
    column = joined(stored)
    assert listed(column) == expected
    if not isinstance(column, Narrow):
        return
    codes = column.codes.to_pylist()
    for i, value in enumerate(expected):  # equal codes are equal values: merges compare them alone
        for j in range(i):
            assert not column.is_coded or (codes[i] == codes[j]) == (value == expected[j])
    kept = sorted(data.draw(st.sets(st.integers(0, len(expected) - 1), min_size=1)))
    left = fewer(column.with_codes(column.codes.take(pa.array(kept))))
    assert listed(reread(left)) == [expected[i] for i in kept]


def test_parts_have_no_code_of_a_great_unit() -> None:
    """Of two values that are far apart the unit is what they differ by; a part may have but one of them."""
    far = pa.array([0, 0, 1 << 40, None] * 10)
    stored = narrowed(far)
    assert isinstance(stored, Narrow) and stored.unit == 1 << 40
    for first, count in ((0, 2), (2, 1), (3, 1), (2, 2)):
        column = joined([stored.slice(first, count), narrowed(pa.array([7, 8, 9]))])
        assert listed(column) == [*listed(far.slice(first, count)), *listed(pa.array([7, 8, 9]))]


@pytest.mark.parametrize("of", [pa.int64(), pa.decimal128(38, 2), pa.timestamp("us")], ids=str)
def test_parts_of_one_number_each_are_as_far_apart_as_any(of: pa.DataType) -> None:
    """What they differ by may be no number of 64 bits."""
    least, greatest = (narrowed(of_bits([number] * 9, of)) for number in (-(2**63), 2**63 - 1))
    for parts in (
        [least, greatest],
        [greatest, least, least],
        [narrowed(of_bits([-1, 0], of)), greatest, least],
    ):
        whole = joined(parts)
        left = narrowed(whole) if isinstance(whole, pa.Array) else fewer(whole)
        expected = [value for part in parts for value in bits(part)]
        assert bits(reread(whole)) == bits(reread(left)) == expected


def of_bits(numbers: list[int], of: pa.DataType) -> pa.Array:
    """Numbers, as that type stores them."""
    words = np.array([[n, n >> 63] if pa.types.is_decimal(of) else [n] for n in numbers], np.int64)
    return pa.Array.from_buffers(of, len(numbers), [None, pa.py_buffer(words)])


def bits(column: pa.Array | Narrow) -> list[int]:
    """Of a column of numbers, what is stored of each."""
    plain = column.values() if isinstance(column, Narrow) else column
    width = plain.type.bit_width // 64
    return np.frombuffer(plain.buffers()[1], np.int64).reshape(-1, width)[: len(plain), 0].tolist()


def test_text_of_which_none_is_left_is_null() -> None:
    none = narrowed(pa.nulls(40, pa.string()))
    some = narrowed(pa.array(["a", "a", None, None] * 10))
    for parts in ([none, none], [none, some]):
        column = joined(parts)
        assert isinstance(column, Narrow)
        left = fewer(column.with_codes(column.codes.slice(0, 30)))
        assert isinstance(left, Narrow) and reread(left).values().equals(pa.nulls(30, pa.string()))
