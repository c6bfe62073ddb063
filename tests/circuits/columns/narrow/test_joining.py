"""Columns are joined by their codes as their values are; what is left of them is written in fewer bytes."""

from __future__ import annotations

import pyarrow as pa
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


def test_text_of_which_none_is_left_is_null() -> None:
    none = narrowed(pa.nulls(40, pa.string()))
    some = narrowed(pa.array(["a", "a", None, None] * 10))
    for parts in ([none, none], [none, some]):
        column = joined(parts)
        assert isinstance(column, Narrow)
        left = fewer(column.with_codes(column.codes.slice(0, 30)))
        assert isinstance(left, Narrow) and reread(left).values().equals(pa.nulls(30, pa.string()))
