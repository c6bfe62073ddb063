"""The moment in the place of what reads the clock."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbsp.testing.spark.clock import at, ticked

NOON = datetime(2024, 2, 29, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT now() - x", "SELECT TIMESTAMP '2024-02-29 23:30:00' - x"),
        ("CURRENT_TIMESTAMP, Now ( )", "TIMESTAMP '2024-02-29 23:30:00', TIMESTAMP '2024-02-29 23:30:00'"),
        ("SELECT current_date()", "SELECT DATE '2024-02-29'"),
        ("SELECT localtimestamp", "SELECT TIMESTAMP_NTZ '2024-02-29 23:30:00'"),
        ("SELECT now, t.now, 'now()', -- now()\n1", "SELECT now, t.now, 'now()', -- now()\n1"),
    ],
)  # fmt: skip
def test_the_moment_stands_there(query, expected):
    assert at(query, NOON, "UTC") == expected


def test_a_day_is_the_zone_s():
    assert at("current_date", NOON, "Europe/Berlin") == "DATE '2024-03-01'"


def test_a_clock_that_ticks_stands_at_its_last_tick():
    clock = datetime(2024, 2, 29, 23, 30, 19, 5, tzinfo=UTC)
    assert ticked(clock, 10_000_000) == datetime(2024, 2, 29, 23, 30, 10, tzinfo=UTC)
    assert ticked(clock, 0) == clock
