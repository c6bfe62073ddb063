"""SEQUENCE, against Python's ranges and its calendar."""

from __future__ import annotations

import calendar
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.calling import called

INT, DAY, TIME, MICROS = pa.int64(), pa.date32(), pa.timestamp("us", tz="UTC"), pa.duration("us")
number = st.one_of(st.none(), st.integers(-6, 6))


def sequence(data_type: pa.DataType, *arguments: Any, zone: str = "UTC") -> list[Any]:
    return called("sequence", pa.list_(data_type), *arguments, timeZoneId=zone)


@given(st.lists(st.tuples(number, number, st.integers(1, 4)), max_size=6))
def test_numbers(listed: list[tuple[Any, Any, int]]) -> None:
    steps = [step if a is None or b is None or a <= b else -step for a, b, step in listed]
    first, last, by = (
        pa.array(values, INT) for values in ([a for a, _, _ in listed], [b for _, b, _ in listed], steps)
    )

    def counted(a: int | None, b: int | None, step: int) -> list[int] | None:
        return None if a is None or b is None else list(range(a, b + (1 if step > 0 else -1), step))

    assert sequence(INT, first, last, by) == [
        counted(a, b, s) for (a, b, _), s in zip(listed, steps, strict=True)
    ]
    by_one = [counted(a, b, 1 if s > 0 else -1) for (a, b, _), s in zip(listed, steps, strict=True)]
    assert sequence(INT, first, last) == by_one


def days(*listed: date) -> pa.Array:
    return pa.array(listed, DAY)


@given(st.integers(-40, 40), st.integers(1, 9))
def test_dates(span: int, step: int) -> None:
    start = date(2024, 2, 20)
    offsets = range(0, span + 1, step) if span >= 0 else range(0, span - 1, -step)
    by = timedelta(days=step if span >= 0 else -step)
    found = sequence(DAY, days(start), days(start + timedelta(span)), pa.array([by], MICROS))
    assert found == [[start + timedelta(offset) for offset in offsets]]


def later(start: date, months: int) -> date:
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    return date(year, month + 1, min(start.day, calendar.monthrange(year, month + 1)[1]))


@given(st.dates(date(2023, 1, 1), date(2024, 12, 31)), st.integers(0, 400), st.integers(1, 14))
def test_months_are_counted_from_the_start(start: date, span: int, step: int) -> None:
    end = start + timedelta(span)
    expected = [day for n in range(20) if (day := later(start, n * step)) <= end]
    by = pa.array([step], INT).view(MONTHS)
    assert sequence(DAY, days(start), days(end), by) == [expected]


def test_days_where_clocks_change_keep_their_hour() -> None:
    """Berlin, 30 March 2024 at noon: 11:00 UTC, and 10:00 UTC from the 31st on."""
    start, end = (datetime(2024, 3, d, 11, tzinfo=UTC) for d in (30, 32 - 1))
    times = pa.array([start], TIME), pa.array([end], TIME)
    (found,) = sequence(TIME, *times, pa.array([timedelta(days=1)], MICROS), zone="Europe/Berlin")
    assert [t.hour for t in found] == [11, 10]
    (hours,) = sequence(TIME, *times, pa.array([timedelta(hours=23)], MICROS), zone="Europe/Berlin")
    assert [t - start for t in hours] == [timedelta(0), timedelta(hours=23)]


@pytest.mark.parametrize(("a", "b", "step"), [(1, 5, -1), (5, 1, 1), (1, 5, 0)])
def test_a_step_that_leads_away(a: int, b: int, step: int) -> None:
    with pytest.raises(EvaluationError, match="ILLEGAL_SEQUENCE_BOUNDARIES"):
        sequence(INT, pa.array([a]), pa.array([b]), pa.array([step]))


def test_standing_still() -> None:
    assert sequence(INT, pa.array([3]), pa.array([3]), pa.array([0])) == [[3]]
    assert sequence(DAY, days(date(2024, 1, 1)), days(date(2024, 1, 1))) == [[date(2024, 1, 1)]]


@pytest.mark.parametrize(
    ("a", "b"), [(0, 2**31), (-(2**63), 2**63 - 1), (2**63 - 1, -(2**63)), (-2, 2**63 - 1)]
)
def test_no_array_is_that_long(a: int, b: int) -> None:
    with pytest.raises(EvaluationError, match="COLLECTION_SIZE_LIMIT_EXCEEDED"):
        sequence(INT, pa.array([a], INT), pa.array([b], INT))


def test_dates_by_less_than_a_day() -> None:
    with pytest.raises(EvaluationError, match="at least a day"):
        sequence(DAY, days(date(2024, 1, 1)), days(date(2024, 1, 2)), pa.array([timedelta(hours=1)], MICROS))
