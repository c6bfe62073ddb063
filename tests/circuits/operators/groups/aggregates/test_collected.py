"""Aggregates of all values of a group, against plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.aggregates.collected import Collect, Join, Mode, Some
from dbsp.circuits.operators.groups.state.members import Finalizer, Members

TEXT = st.sampled_from(["", "a", "b", "ab", "ä"])
NUMBERS = st.integers(-3, 3)
groups = st.lists(st.tuples(st.integers(0, 2), NUMBERS, TEXT), max_size=12)
Rows = list[tuple[int, int, str]]


def members(rows: Rows, gone: Rows, *columns: int) -> Members:
    """Three groups; what is gone was there too, twice listed."""
    listed = [*rows, *gone, *gone]
    weights = [1] * (len(rows) + len(gone)) + [-1] * len(gone)
    arrays = [pa.array([row[i] for row in listed], pa.int64() if i == 1 else pa.string()) for i in columns]
    owner = np.array([row[0] for row in listed], dtype=np.int64)
    return Members(owner, arrays, np.array(weights, dtype=np.int64), 3)


def by_group(rows: Rows, column: int) -> list[list[Any]]:
    return [sorted(row[column] for row in rows if row[0] == group) for group in range(3)]


def found(finalizer: Finalizer, given: Members, data_type: pa.DataType) -> list[Any]:
    result = finalizer.finalize(given, data_type)
    assert result.type == data_type and len(result) == 3
    result.validate(full=True)
    values: list[Any] = result.to_pylist()
    return values


@given(groups, groups)
def test_lists_are_the_values_in_order(rows: Rows, gone: Rows) -> None:
    kind = pa.list_(pa.int64())
    assert found(Collect(), members(rows, gone, 1), kind) == by_group(rows, 1)
    once = [sorted(set(values)) for values in by_group(rows, 1)]
    assert found(Collect(once=True), members(rows, gone, 1), kind) == once


@given(groups, groups)
def test_joined_text_is_in_the_order_asked_for(rows: Rows, gone: Rows) -> None:
    expected = []
    for group in range(3):
        mine = sorted(((-number, text) for owner, number, text in rows if owner == group))
        expected.append("-".join(text for _, text in mine) if mine else None)
    finalizer = Join("-", (SortKey(1, descending=True),))
    assert found(finalizer, members(rows, gone, 2, 1), pa.string()) == expected


@given(groups, groups)
def test_the_mode_is_the_most_frequent_value(rows: Rows, gone: Rows) -> None:
    for greatest in (False, True):
        expected: list[int | None] = []
        for values in by_group(rows, 1):
            counts = Counter(values)
            most = [value for value, count in counts.items() if count == max(counts.values())]
            expected.append((max if greatest else min)(most) if most else None)
        assert found(Mode(greatest), members(rows, gone, 1), pa.int64()) == expected


@given(groups, groups)
def test_any_value_is_one_of_them(rows: Rows, gone: Rows) -> None:
    expected = [values[0] if values else None for values in by_group(rows, 1)]
    assert found(Some(), members(rows, gone, 1), pa.int64()) == expected
