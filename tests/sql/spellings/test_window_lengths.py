"""Lengths of windows: microseconds as the user gives them, and arguments of Spark's functions."""

from __future__ import annotations

import pytest

from tests.sql.spellings.respelled import check_refused, respelled

MINUTE, HOUR = 60_000_000, 3_600_000_000


@pytest.mark.parametrize(
    ("time", "length"),
    [
        ("0:12", 12 * MINUTE),
        ("1:00", HOUR),
        ("00:00:07", 7_000_000),
        ("26:01:01", 26 * HOUR + MINUTE + 1_000_000),
    ],
)
def test_a_time_of_day_is_a_length(time: str, length: int) -> None:
    found = respelled(f"TUMBLE(ts, INTERVAL 9 DAYS, TIME '{time}')").text
    assert (
        found
        == f"window(ts, '{216 * HOUR} microseconds', '{216 * HOUR} microseconds', '{length} microseconds')"
    )


@pytest.mark.parametrize("time", ["noon", "1", "1:2:3:4", "1:-2", "100:00", ""])
def test_what_is_no_time_of_day(time: str) -> None:
    check_refused(
        f"TUMBLE(ts, INTERVAL 1 HOUR, TIME '{time}')", f"1:34: TIME '{time}' is no time of day, as TIME"
    )


@pytest.mark.parametrize(
    ("call", "lengths"),
    [
        ("TUMBLE(ts, INTERVAL 1 MINUTE)", [MINUTE]),
        ("TUMBLE(ts, INTERVAL 1 MINUTE, TIME '0:05')", [MINUTE]),  # a whole number of windows further
        ("HOP(ts, INTERVAL 1 MINUTE, INTERVAL 1 MINUTE)", [MINUTE]),
        ("HOP(ts, INTERVAL 1 MINUTE, INTERVAL 1 HOUR)", [HOUR, MINUTE]),
        ("HOP(ts, INTERVAL 1 HOUR, INTERVAL 2 HOURS, TIME '1:30')", [2 * HOUR, HOUR, HOUR // 2]),
    ],
)
def test_windows_take_as_few_arguments_as_say_it(call: str, lengths: list[int]) -> None:
    spelled = "".join(f", '{length} microseconds'" for length in lengths)
    assert respelled(call).text == f"window(ts{spelled})"


@pytest.mark.parametrize(
    ("gap", "spelled"),
    [("10 MINUTES", "0 days 600000000"), ("1 DAY", "1 days 0"), ("49 HOURS", "2 days 3600000000")],
)
def test_a_gap_is_days_and_microseconds(gap: str, spelled: str) -> None:
    assert respelled(f"SESSION(ts, INTERVAL {gap})").text == f"session_window(ts, '{spelled} microseconds')"
