"""Bags of rows are compared as bags: each row as often as it is there, doubles but for rounding."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest

from dbsp.testing.bags import arrow_values, identity, normal, same_rows, unpaired


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ([], []),
        ([(1, "a"), (2, None)], [(2, None), (1, "a")]),
        ([(1,), (1,)], [(1,), (1,)]),
        ([(Decimal("2.00"),)], [(2,)]),
        ([(1.0,), (5e11,)], [(5e11 + 1e-3,), (1.0 + 1e-10,)]),
        ([(0.0,)], [(1e-13,)]),
        ([(math.nan,), (math.inf,)], [(math.inf,), (math.nan,)]),
        ([((1.5, math.nan),)], [((1.5, math.nan),)]),
    ],
)
def test_the_same_rows(mine, theirs):
    assert unpaired(mine, theirs) == ([], [])
    assert same_rows(mine, theirs) is None


@pytest.mark.parametrize(
    ("mine", "theirs", "missing", "surplus"),
    [
        ([], [(1,)], [(1,)], []),
        ([(1,)], [], [], [(1,)]),
        ([(1,), (1,)], [(1,)], [], [(1,)]),
        ([(1,)], [(1,), (1,)], [(1,)], []),
        ([(None,)], [(0,)], [(0,)], [(None,)]),
        ([(2,)], [(2.0,)], [(2.0,)], [(2,)]),
        ([(True,)], [(1,)], [(1,)], [(True,)]),
        ([(1.0, "a")], [(1.0, "b")], [(1.0, "b")], [(1.0, "a")]),
        ([(1.0,)], [(1.0 + 1e-8,)], [(1.0 + 1e-8,)], [(1.0,)]),
        ([(0.0,)], [(1e-11,)], [(1e-11,)], [(0.0,)]),
        ([((1.5,),)], [((1.5 + 1e-12,),)], [((1.5 + 1e-12,),)], [((1.5,),)]),
        ([(1.0, 2.0)], [(1.0, 3.0)], [(1.0, 3.0)], [(1.0, 2.0)]),
        ([(timedelta(1),)], [(timedelta(2),)], [(timedelta(2),)], [(timedelta(1),)]),
    ],
)
def test_other_rows(mine, theirs, missing, surplus):
    assert unpaired(mine, theirs) == (missing, surplus)
    assert same_rows(mine, theirs) == f"missing {missing}, surplus {surplus}"


def test_a_row_that_is_not_a_number_has_no_other_partner():
    missing, surplus = unpaired([(math.nan,)], [(1.0,)])
    assert (missing, len(surplus)) == ([(1.0,)], 1)


def test_a_value_has_one_spelling():
    berlin = timezone(timedelta(hours=1))
    assert normal(datetime(2024, 1, 1, 1, tzinfo=berlin)) == datetime(2024, 1, 1)
    assert normal(datetime(2024, 1, 1)) == datetime(2024, 1, 1)
    assert normal(pa.MonthDayNano([14, 0, 0])) == 14
    assert normal([{"x": bytearray(b"a")}, [1]]) == ((b"a",), (1,))
    assert normal("a") == "a"
    rows = pa.table({"t": pa.array([datetime(2024, 1, 1, tzinfo=UTC)]), "b": [b"a"]})
    assert arrow_values(rows) == [(datetime(2024, 1, 1), b"a")]


def test_what_stands_for_a_value_is_equal_where_the_values_are_the_same():
    same = [(math.nan, -math.nan), ([1, {"x": None}], [1, {"x": None}]), ("a", "a")]
    other = [(0.0, -0.0), (True, 1), ({"x": 1}, {"y": 1}), ([1], 1), (None, "NaN"), ([1, 2], [2, 1])]
    assert all(identity(a) == identity(b) for a, b in same)
    assert all(identity(a) != identity(b) for a, b in other)


def test_times_beyond_pythons_calendar() -> None:
    table = pa.table({"d": pa.array([3_000_000], pa.date32()), "t": pa.array([2**60], pa.timestamp("us"))})
    assert arrow_values(table) == [(3_000_000, 2**60)]
