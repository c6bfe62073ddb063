"""The window functions by name, each against a look at the rows that it counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.windows.calls import Frame, WindowFunction
from dbsp.circuits.operators.groups.windows.functions import FUNCTIONS, evaluate_window
from tests.circuits.operators.groups.windows.test_partitions import Row, expanded, listings, partitions

INT, DOUBLE = pa.int64(), pa.float64()
ORDER = (SortKey(1),)


def evaluated(listed: list[Any], name: str, data_type: pa.DataType = INT, **options: Any) -> list[Any]:
    call = WindowFunction(name, data_type, ORDER, **options)
    found = evaluate_window(call, partitions(listed))
    assert found.type == data_type
    values: list[Any] = found.to_pylist()
    return values


def in_place(rows: list[Row], i: int) -> tuple[list[Row], int, int, int]:
    """(the partition, the row's place in it, the first and the last of its peers)"""
    first = next(j for j, row in enumerate(rows) if row[0] == rows[i][0])
    mine = [row for row in rows if row[0] == rows[i][0]]
    peers = [j for j, row in enumerate(mine) if row[1] == rows[i][1]]
    return mine, i - first, peers[0], peers[-1]


RANKS: dict[str, tuple[pa.DataType, Callable[[list[Row], int, int, int], Any]]] = {
    "row_number": (INT, lambda rows, place, first, last: place + 1),
    "rank": (INT, lambda rows, place, first, last: first + 1),
    "dense_rank": (INT, lambda rows, place, first, last: len({row[1] for row in rows[: first + 1]})),
    "percent_rank": (DOUBLE, lambda rows, place, first, last: first / max(len(rows) - 1, 1)),
    "cume_dist": (DOUBLE, lambda rows, place, first, last: (last + 1) / len(rows)),
}


@given(listings)
def test_ranks(listed: list[Any]) -> None:
    rows = expanded(listed)
    for name, (data_type, rank) in RANKS.items():
        assert evaluated(listed, name, data_type) == [rank(*in_place(rows, i)) for i in range(len(rows))], (
            name
        )


@given(listings, st.integers(1, 5))
def test_ntile(listed: list[Any], buckets: int) -> None:
    rows = expanded(listed)
    expected = []
    for i in range(len(rows)):
        mine, place, *_ = in_place(rows, i)
        sizes = [len(mine) // buckets + (n < len(mine) % buckets) for n in range(buckets)]
        expected.append(next(n + 1 for n in range(buckets) if place < sum(sizes[: n + 1])))
    assert evaluated(listed, "ntile", number=buckets) == expected


@given(listings, st.integers(-3, 3), st.booleans())
def test_lead_and_lag(listed: list[Any], offset: int, ignore_nulls: bool) -> None:
    """Beyond the ends it is the default: here the order's value in the current row."""
    rows = expanded(listed)
    expected = []
    for i, row in enumerate(rows):
        mine, place, *_ = in_place(rows, i)
        value = row[1]
        if not ignore_nulls or not offset:
            value = mine[place + offset][2] if 0 <= place + offset < len(mine) else row[1]
        else:
            along = mine[place + 1 :] if offset > 0 else mine[:place][::-1]
            known = [other[2] for other in along if other[2] is not None]
            value = known[abs(offset) - 1] if len(known) >= abs(offset) else row[1]
        expected.append(value)
    assert evaluated(listed, "lead", arguments=(2, 1), number=offset, ignore_nulls=ignore_nulls) == expected


edges = st.one_of(st.none(), st.integers(-2, 2))


@given(listings, edges, edges, st.booleans(), st.integers(1, 3))
def test_values_by_their_place_in_the_frame(
    listed: list[Any], lower: int | None, upper: int | None, ignore_nulls: bool, n: int
) -> None:
    rows = expanded(listed)
    framed = []
    for i in range(len(rows)):
        mine, place, *_ = in_place(rows, i)
        start = 0 if lower is None else max(place + lower, 0)
        stop = len(mine) if upper is None else max(place + upper + 1, 0)
        seen = [row[2] for row in mine[start:stop]]
        framed.append([v for v in seen if v is not None] if ignore_nulls else seen)
    frame, options = Frame(True, lower, upper), {"arguments": (2,), "ignore_nulls": ignore_nulls}
    firsts = [seen[0] if seen else None for seen in framed]
    lasts = [seen[-1] if seen else None for seen in framed]
    nths = [seen[n - 1] if len(seen) >= n else None for seen in framed]
    assert evaluated(listed, "first", frame=frame, **options) == firsts
    assert evaluated(listed, "last", frame=frame, **options) == lasts
    assert evaluated(listed, "nth_value", frame=frame, number=n, **options) == nths
    assert evaluated(listed, "collect_list", pa.list_(INT), frame=frame, **options) == framed
    assert evaluated(listed, "count", frame=frame, arguments=(2,)) == [
        sum(value is not None for value in seen) for seen in framed
    ]


def test_without_arguments_every_row_counts() -> None:
    rows = [(0, 1, None, 2), (1, 1, 5, 1)]
    assert evaluated(rows, "count") == [2, 2, 1]
    assert evaluated(rows, "count", arguments=(2,)) == [0, 0, 1]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_no_rows(name: str) -> None:
    data_type = (
        pa.list_(INT)
        if name == "collect_list"
        else DOUBLE
        if name in ("percent_rank", "cume_dist", "avg")
        else INT
    )
    arguments = (2, 1) if name in ("lead", "max_by", "min_by") else (2,)
    assert evaluated([], name, data_type, arguments=arguments, number=1) == []
