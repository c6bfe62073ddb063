"""The rows of groups: listed once each, with the weight that is left, in the order asked for."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.state.members import Members

SCHEMA = pa.schema([("x", pa.int64()), ("s", pa.string())])
rows = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.one_of(st.none(), st.integers(-1, 1)),
        st.sampled_from([None, "", "a", "é"]),
        st.integers(-2, 2),
    ),
    max_size=10,
)
Row = tuple[int, Any, Any, int]


def members(listed: list[Row]) -> Members:
    owner, weights = (np.array([row[i] for row in listed], np.int64) for i in (0, 3))
    columns = [pa.array([row[i] for row in listed], t) for i, t in ((1, pa.int64()), (2, pa.string()))]
    return Members(owner, columns, weights, 4)


def rows_of(found: Members) -> list[Row]:
    columns = (column.to_pylist() for column in found.columns)
    return list(zip(found.owner.tolist(), *columns, found.weights.tolist(), strict=True))


def totals(listed: list[Row]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for *row, weight in listed:
        found[tuple(row)] += weight
    return found


def natural(row: Row) -> Any:
    """By group, then the row: NULL first."""
    return row[0], (row[1] is not None, row[1] or 0), (row[2] is not None, (row[2] or "").encode())


@given(rows)
def test_each_row_once_with_what_is_left_of_it(listed: list[Row]) -> None:
    found = members(listed).listed()
    expected = [(*row, total) for row, total in totals(listed).items() if total > 0]
    assert rows_of(found) == sorted(expected, key=natural)
    assert found.count == 4


@given(rows)
def test_in_the_order_asked_for(listed: list[Row]) -> None:
    found = rows_of(members(listed).listed((SortKey(0, descending=True, nulls_last=True),)))
    expected = [(*row, total) for row, total in totals(listed).items() if total > 0]
    assert found == sorted(expected, key=lambda r: (r[0], r[1] is None, -(r[1] or 0), *natural(r)[1:]))


def test_what_ties_in_the_order_is_told_apart() -> None:
    """A zero of either sign is a row of its own; every NaN is the same one."""
    nan = float("nan")
    values, weights = pa.array([0.0, nan, -0.0, 0.0, -nan]), np.array([1, 1, 1, -1, 1])
    found = Members(np.zeros(5, np.int64), [values], weights, 1).listed((SortKey(0),))
    assert [*map(str, found.columns[0].to_pylist())] == ["-0.0", "nan"]
    assert found.weights.tolist() == [1, 2]


@given(st.lists(rows, max_size=3))
def test_parts_are_one(parts: list[list[Row]]) -> None:
    whole = Members.sum(SCHEMA, [members(part) for part in parts], 4)
    assert rows_of(whole) == [row for part in parts for row in part]
    assert [column.type for column in whole.columns] == SCHEMA.types
