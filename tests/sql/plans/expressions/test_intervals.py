"""Intervals of the calendar that are constants."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.expressions.nodes import Literal
from dbsp.sql.plans.expressions.intervals import day_time


@pytest.mark.parametrize(
    ("months", "days", "micros", "same"),
    [
        (0, 1, 3_600_000_000, timedelta(days=1, hours=1)),
        (0, -1, -1, -timedelta(days=1, microseconds=1)),
        (1, 0, 0, None),
        (0, 1, -1, None),
        (0, 0, 25 * 3_600_000_000, None),
    ],
)
def test_an_interval_of_the_calendar_is_one_of_days_where_that_says_the_same(
    months: int, days: int, micros: int, same: timedelta | None
) -> None:
    literal = Literal((months, days, micros), CALENDAR_INTERVAL)
    found = day_time(literal)
    assert found == (literal if same is None else Literal(same, pa.duration("us")))
