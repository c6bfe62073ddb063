"""Conditions on NOW(): a row is visible exactly while its bounds say so."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import timedelta
from itertools import product

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.catalyst.clock.conditions import changes, time_bounds
from dbsp.sql.plans.clock.changes import TimeBound
from dbsp.sql.plans.clock.readings import NOW
from tests.sql.hand_made import BOOL

TIME = CLOCK.type
TS, READING = Column(0, TIME), Column(0, TIME, False)
COMPARED: dict[str, Callable[[int, int], bool]] = {
    "greater_than": operator.gt,
    "greater_than_or_equal": operator.ge,
    "less_than": operator.lt,
    "less_than_or_equal": operator.le,
    "equal_to": operator.eq,
}


def condition(function: str, left: Expression, right: Expression) -> Call:
    return Call(function, (left, right), BOOL)


def shifted(time: Expression, **by: int) -> Call:
    interval = Literal(timedelta(**by), pa.duration("us"))
    return Call("timestamp_add_interval", (time, interval), TIME, True, (("timeZoneId", "UTC"),))


def visible(bounds: tuple[TimeBound, ...], value: int, clock: int) -> bool:
    """By each bound: until the reading has passed the value, or from then on."""
    passed = [value < clock or (value == clock and bound.at_once) for bound in bounds]
    return all(is_passed != bound.leaves for is_passed, bound in zip(passed, bounds, strict=True))


@pytest.mark.parametrize("function", COMPARED)
@pytest.mark.parametrize("flipped", [False, True])
def test_bounds_say_when_a_comparison_is_true(function: str, flipped: bool) -> None:
    bounds = time_bounds(condition(function, *((NOW, TS) if flipped else (TS, NOW))))
    assert bounds is not None
    assert all((bound.value, bound.clock) == (TS, READING) for bound in bounds)
    for value, clock in product(range(3), repeat=2):
        sides = (clock, value) if flipped else (value, clock)
        assert visible(bounds, value, clock) == COMPARED[function](*sides), (value, clock)


def test_a_shifted_clock_is_a_reading_too() -> None:
    bounds = time_bounds(condition("greater_than", TS, shifted(NOW, minutes=-5)))
    assert bounds is not None
    (bound,) = bounds
    assert bound.clock == shifted(READING, minutes=-5)


def test_a_difference_is_taken_apart() -> None:
    """now − ts < 1 h  ⇔  ts + 1 h > now"""
    age = Call("subtract_timestamps", (NOW, TS), pa.duration("us"), options=(("timeZoneId", "UTC"),))
    bounds = time_bounds(condition("less_than", age, Literal(timedelta(hours=1), pa.duration("us"))))
    assert bounds is not None
    (bound,) = bounds
    assert (bound.leaves, bound.at_once, bound.clock) == (True, True, READING)
    assert str(bound.value) == "timestamp_add_interval(#0, datetime.timedelta(seconds=3600))"


@pytest.mark.parametrize(
    "unclear",
    [
        condition("less_than", TS, shifted(TS, hours=1)),
        condition("less_than", TS, Call("greatest", (TS, NOW), TIME)),
        Call("or", (condition("less_than", TS, NOW), condition("less_than", NOW, TS)), BOOL),
    ],
    ids=str,
)
def test_what_has_no_bounds(unclear: Expression) -> None:
    assert time_bounds(unclear) is None


def test_values_change_when_the_clock_crosses_what_they_compare() -> None:
    either = Call(
        "or", (condition("less_than", TS, NOW), condition("less_than", shifted(TS, hours=1), NOW)), BOOL
    )
    found = changes([either])
    assert found is not None
    assert [str(crossing.value).split("(")[0] for crossing in found.crossings] == [
        "#0",
        "timestamp_add_interval",
    ]
    assert (found.readings, found.ahead, found.restless) == ((), (), False)
    leaving = changes([condition("greater_than", TS, NOW)])
    assert leaving is not None
    assert leaving.ahead == leaving.crossings


def test_a_reading_that_mostly_stands_still_changes_all_rows() -> None:
    hour = Call("hour", (NOW,), pa.int32(), options=(("timeZoneId", "UTC"),))
    found = changes([hour])
    assert found is not None
    assert (len(found.crossings), [str(reading) for reading in found.readings]) == (0, ["hour(#0)"])


def test_what_changes_at_any_moment_is_for_one_row_only() -> None:
    assert changes([NOW]) is None
    one = changes([NOW], one_row=True)
    assert one is not None
    assert (one.readings, one.restless) == ((READING,), True)
    assert changes([TS]) is not None
