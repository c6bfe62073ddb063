"""Comparisons read in other ways: every reading is true of the same rows."""

from __future__ import annotations

import operator
from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.mirror import mirrored
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.expressions.predicates import (
    FLIPPED,
    SIGNS,
    comparisons,
    conjunction,
    conjuncts,
    taken_apart,
)
from dbsp.circuits.functions.evaluate import evaluate

COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
LOCAL, TIME, DAY = pa.timestamp("us"), pa.timestamp("us", tz="UTC"), pa.date32()
INTERVAL, INT = pa.duration("us"), pa.int64()
HOUR = Literal(timedelta(hours=1), INTERVAL)
UTC, BERLIN = ("timeZoneId", "UTC"), ("timeZoneId", "Europe/Berlin")


@pytest.mark.parametrize("function", SIGNS)
@given(x=st.integers(-2, 2), y=st.integers(-2, 2))
def test_flipped(function: str, x: int, y: int) -> None:
    assert COMPARE[SIGNS[function]](x, y) == COMPARE[SIGNS[FLIPPED[function]]](y, x)


def compared(function: str, a: Expression, b: Expression, rows: pa.RecordBatch) -> Any:
    return evaluate(Call(function, (a, b), pa.bool_()), rows)[0].as_py()


hours = st.integers(-30, 30)


@given(hours, hours, hours, st.sampled_from(sorted(SIGNS)), st.sampled_from([LOCAL, TIME]))
def test_a_difference_of_times(x: int, y: int, amount: int, function: str, data_type: pa.DataType) -> None:
    a, b = Column(0, data_type), Column(1, data_type)
    by = Literal(timedelta(hours=amount), INTERVAL)
    difference = Call("subtract_timestamps", (a, b), INTERVAL, True, (UTC,))
    found = taken_apart(difference, by)
    assert found is not None
    left, right, later, earlier = found
    times = [datetime(2024, 3, 10) + timedelta(hours=each) for each in (x, y)]
    rows = pa.record_batch([pa.array([time], LOCAL).cast(LOCAL) for time in times], names=["x", "y"])
    rows = pa.record_batch([c.view(data_type) for c in rows.columns], names=["x", "y"])
    expected = COMPARE[SIGNS[function]](x - y, amount)
    assert compared(function, left, later, rows) == expected
    assert compared(function, earlier, right, rows) == expected


@given(hours, hours, hours, st.sampled_from(sorted(SIGNS)), st.booleans())
def test_a_difference_of_dates(x: int, y: int, amount: int, function: str, in_days: bool) -> None:
    a, b = Column(0, DAY), Column(1, DAY)
    if in_days:
        found = taken_apart(Call("date_diff", (a, b), pa.int32()), Literal(amount, pa.int32()))
    else:
        by = Literal(timedelta(days=amount), INTERVAL)
        found = taken_apart(Call("subtract_dates", (a, b), INTERVAL), by)
    assert found is not None
    left, right, later, earlier = found
    days = [date(2024, 2, 28) + timedelta(days=each) for each in (x, y)]
    rows = pa.record_batch([pa.array([day], DAY) for day in days], names=["x", "y"])
    expected = COMPARE[SIGNS[function]](x - y, amount)
    assert compared(function, left, later, rows) == expected
    assert compared(function, earlier, right, rows) == expected


def test_where_clocks_change_the_difference_is_of_local_times() -> None:
    """31 March 2024, 03:30 CEST is an hour and a half after 01:00 CET, and two and a half by the clock."""
    a, b = Column(0, TIME), Column(1, TIME)
    difference = Call("subtract_timestamps", (a, b), INTERVAL, True, (BERLIN,))
    found = taken_apart(difference, Literal(timedelta(hours=2), INTERVAL))
    assert found is not None
    left, _, later, _ = found
    times = [datetime(2024, 3, 31, 1, 30), datetime(2024, 3, 31, 0, 0)]
    rows = pa.record_batch([pa.array([time], LOCAL).view(TIME) for time in times], names=["x", "y"])
    assert compared("greater_than", left, later, rows) is True
    assert left.type == LOCAL


@pytest.mark.parametrize(
    ("difference", "amount"),
    [
        (Column(0, INT), Literal(1, INT)),
        (Call("subtract", (Column(0, INT), Column(1, INT)), INT), Literal(1, INT)),
        (Call("date_diff", (Column(0, DAY), Column(1, DAY)), pa.int32()), Column(2, pa.int32())),
        (Call("date_diff", (Column(0, DAY), Column(1, DAY)), pa.int32()), Literal(None, pa.int32())),
        (Call("subtract_dates", (Column(0, DAY), Column(1, DAY)), INTERVAL), HOUR),
        (Call("subtract_timestamps", (Column(0, TIME), Column(1, LOCAL)), INTERVAL), HOUR),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_apart(difference: Expression, amount: Expression) -> None:
    assert taken_apart(difference, amount) is None


parts = [Call("is_null", (Column(i, INT),), pa.bool_(), False) for i in range(4)]


@given(st.lists(st.sampled_from(parts), max_size=5))
def test_conjuncts_of_a_conjunction(listed: list[Expression]) -> None:
    assert conjuncts(conjunction(listed)) == listed


def test_a_disjunction_is_one_conjunct() -> None:
    either = Call("or", (parts[0], Call("and", (parts[1], parts[2]), pa.bool_())), pa.bool_())
    assert conjuncts(either) == [either]
    assert conjuncts(Call("and", (Call("and", (parts[0], parts[1]), pa.bool_()), either), pa.bool_())) == [
        parts[0], parts[1], either,
    ]  # fmt: skip


def test_what_a_condition_says_is_at_least_what() -> None:
    a, b = Column(0, INT), Column(1, INT)

    def call(function: str, *arguments: Expression) -> Call:
        return Call(function, arguments, pa.bool_())

    def turned(*pairs: tuple[Expression, Expression]) -> list[tuple[Expression, Expression]]:
        return [*pairs, *((mirrored(lesser), mirrored(greater)) for greater, lesser in pairs)]

    assert (
        comparisons(call("greater_than", a, b))
        == comparisons(call("greater_than_or_equal", a, b))
        == turned((a, b))
    )
    less = [comparisons(call(name, a, b)) for name in ("less_than", "less_than_or_equal")]
    assert less == [turned((b, a))] * 2
    assert comparisons(call("equal_to", a, b)) == turned((a, b), (b, a))
    both = call("and", call("less_than", a, b), call("equal_to", a, b))
    assert comparisons(both) == turned((b, a), (a, b), (b, a))
    assert comparisons(call("or", call("less_than", a, b), call("less_than", a, b))) == []
    assert comparisons(None) == comparisons(a) == comparisons(call("not", call("less_than", a, b))) == []
