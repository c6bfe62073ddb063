"""Sorted arrays, their least and greatest: Python's, with NULLs first and NaN greatest."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.circuits.functions.calling import called

DOUBLES = pa.list_(pa.float64())
elements = st.one_of(st.none(), st.sampled_from([0.0, 1.5, -2.0, float("inf"), float("-inf"), float("nan")]))
arrays = st.lists(st.one_of(st.none(), st.lists(elements, max_size=5)), max_size=5)


def rank(value: float | None) -> tuple[bool, bool, float]:
    """NULL, numbers, NaN."""
    is_nan = value is not None and math.isnan(value)
    return value is not None, is_nan, 0.0 if value is None or is_nan else value


@given(arrays, st.booleans())
def test_sorted(listed: list[Any], ascending: bool) -> None:
    found = called("sort_array", DOUBLES, pa.array(listed, DOUBLES), pa.scalar(ascending))
    expected = [None if one is None else sorted(one, key=rank, reverse=not ascending) for one in listed]
    assert repr(found) == repr(expected)


@given(arrays)
def test_ends(listed: list[Any]) -> None:
    there = [sorted((x for x in one or [] if x is not None), key=rank) for one in listed]
    for name, place in (("array_min", 0), ("array_max", -1)):
        found = called(name, pa.float64(), pa.array(listed, DOUBLES))
        assert repr(found) == repr([one[place] if one else None for one in there])


@pytest.mark.parametrize(
    ("ascending", "expected"), [(True, ["", "Z", "a", "é"]), (False, ["é", "a", "Z", ""])]
)
def test_text_by_bytes(ascending: bool, expected: list[str]) -> None:
    strings = pa.list_(pa.string())
    array = pa.array([["a", "é", "", "Z"]], strings)
    assert called("sort_array", strings, array, pa.scalar(ascending)) == [expected]


def test_whatever_lies_before_a_slice() -> None:
    array = pa.array([[9.0], [3.0, 1.0], None], DOUBLES).slice(1)
    assert called("sort_array", DOUBLES, array, pa.scalar(True)) == [[1.0, 3.0], None]
    assert called("array_max", pa.float64(), array) == [3.0, None]
