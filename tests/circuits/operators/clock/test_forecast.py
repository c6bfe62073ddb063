"""What a reading of the clock will do, against a look at every instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Call, Column, Expression
from dbsp.circuits.operators.clock.forecast import at_clock, first_change, first_drop, first_passed, halved
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.trace import Integral
from tests.circuits.traces.test_timeline import LAYOUT, rows, trace

TIME = CLOCK.type
NOW = Column(0, TIME)
UTC_DAY = (("timeZoneId", "UTC"), ("evalMode", "ANSI"))
DATE = Call("cast", (NOW,), pa.date32(), True, UTC_DAY)
MINUTE = Call("minute", (NOW,), pa.int32(), True, UTC_DAY)
DAY, TWO_DAYS = timedelta(days=1), timedelta(days=2)


def micros(instant: datetime) -> int:
    return int((instant - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60))
def test_halves_find_the_first_moment(before: int, last: int, begins: int) -> None:
    last = max(before + 1, last)
    expected = next((clock for clock in range(before + 1, last + 1) if clock >= begins), None)
    assert halved(lambda clock: clock >= begins, before, last) == expected


@given(rows, st.integers(-3, 5), st.booleans(), st.integers(0, 9))
def test_the_first_clock_that_passes_a_row(
    listed: list[tuple[int, int]], now: int, at_once: bool, ahead: int
) -> None:
    timeline = Integral(LAYOUT, tuple(trace(listed, 2, 0)), Batch.empty(LAYOUT))

    def is_passed(instant: int, clock: int) -> bool:
        return instant < clock or (at_once and instant == clock)

    found = first_passed(timeline, lambda clock: pa.scalar(clock, pa.int64()), at_once, now, now + ahead + 1)
    clocks = range(now + 1, now + ahead + 2)
    expected = [c for c in clocks if any(is_passed(t, c) and not is_passed(t, now) for _, t in listed)]
    assert found == (expected[0] if expected else None)


@pytest.mark.parametrize("seconds", [0, 1, 3599, 43_200, 86_399])
def test_a_date_changes_at_midnight(seconds: int) -> None:
    midnight = datetime(2024, 2, 29, tzinfo=UTC)
    now = micros(midnight + timedelta(seconds=seconds))
    assert first_change([DATE], now) == micros(midnight + DAY)
    assert first_drop(DATE, now) >= micros(midnight + TWO_DAYS), "a date never goes back"


def test_the_first_of_several_readings_counts() -> None:
    now = micros(datetime(2024, 2, 29, 12, 30, 10, tzinfo=UTC))
    minute = micros(datetime(2024, 2, 29, 12, 31, tzinfo=UTC))
    assert first_change([DATE, MINUTE], now) == first_change([MINUTE], now) == minute


def test_a_reading_goes_back_at_the_hour() -> None:
    now = micros(datetime(2024, 2, 29, 12, 30, 10, tzinfo=UTC))
    assert first_drop(MINUTE, now) == micros(datetime(2024, 2, 29, 13, tzinfo=UTC))
    last = micros(datetime(2024, 2, 29, 12, 59, 59, 999_999, tzinfo=UTC))
    assert first_drop(MINUTE, last) == last + 1


def test_nothing_is_said_beyond_two_days() -> None:
    now = micros(datetime(2024, 2, 29, 12, 30, 10, tzinfo=UTC))
    always: Expression = Call("is_null", (NOW,), pa.bool_(), False)
    assert first_change([always], now) == first_drop(NOW, now)
    assert timedelta(microseconds=first_drop(NOW, now) - now) <= TWO_DAYS
    assert timedelta(microseconds=first_drop(NOW, now) - now) > TWO_DAYS - timedelta(minutes=1)


def test_what_is_known_at_a_clock() -> None:
    assert at_clock(7) == {CLOCK.name: pa.scalar(7, TIME)}


@given(st.integers(0, 10**9), st.sampled_from([1_000_000, 7_000_000, 60_000_000, 3_600_000_000]))
def test_a_clock_that_ticks_changes_with_the_next_tick(now: int, every: int) -> None:
    """Also where the reading is, a minute later, what it was."""
    tick = Call("clock_tick", (NOW,), TIME, False, (("every", every),))
    assert first_change([tick], now) == (now // every + 1) * every
    second = Call("second", (tick,), pa.int32(), False, UTC_DAY)
    if every < 60_000_000:
        assert first_change([second], now) == (now // every + 1) * every
