"""Intervals as text: what is written is read again, and what is out of a part's range is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.functions.times.interval_text import NoInterval, fields, is_months, read, spelled, unit_of

DAY_TIME = [
    "day", "day to hour", "day to minute", "day to second", "hour", "hour to minute", "hour to second",
    "minute", "minute to second", "second",
]  # fmt: skip
YEAR_MONTH = ["year", "month", "year to month"]
UNITS = {"day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}


@given(st.sampled_from([*DAY_TIME, *YEAR_MONTH]), st.integers(-(10**7), 10**7))
def test_out_and_in(kind: str, count: int) -> None:
    value = count if fields(kind)[-1] == "second" else count * unit_of(kind)
    text = spelled(value, kind)
    assert text.startswith("INTERVAL '") and text.endswith(f"' {kind.upper()}")
    assert read(text, kind) == value
    assert read(text.split("'")[1], kind) == value, "the number alone too"
    assert read(f" \t{text.lower()}\x7f", kind) == value


def test_parts() -> None:
    assert fields("day to second") == ("day", "hour", "minute", "second")
    assert fields("hour to minute") == ("hour", "minute") and fields("year to month") == ("year", "month")
    assert all(map(is_months, YEAR_MONTH)) and not any(map(is_months, DAY_TIME))
    assert [unit_of(kind) for kind in ("year", "month", "year to month")] == [12, 1, 1]
    assert all(unit_of(kind) == UNITS[fields(kind)[-1]] for kind in DAY_TIME)


# as Spark's documentation of interval literals has them
@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (14, "year to month", "INTERVAL '1-2' YEAR TO MONTH"),
        (-14, "year to month", "INTERVAL '-1-2' YEAR TO MONTH"),
        (30, "month", "INTERVAL '30' MONTH"),
        (24, "year", "INTERVAL '2' YEAR"),
        (0, "day to second", "INTERVAL '0 00:00:00' DAY TO SECOND"),
        (93784_567_000, "day to second", "INTERVAL '1 02:03:04.567' DAY TO SECOND"),
        (-93784_000_000, "hour to second", "INTERVAL '-26:03:04' HOUR TO SECOND"),
        (500_000, "second", "INTERVAL '00.5' SECOND"),
    ],
)
def test_spelled(value: int, kind: str, text: str) -> None:
    assert spelled(value, kind) == text


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("+1-2", "year to month", 14),
        ("INTERVAL -'1-2' YEAR TO MONTH", "year to month", -14),
        ("interval -'-1-2' year to month", "year to month", 14),
        ("1 2:3:4.123456789", "day to second", 93784_123_456),
        ("1.5", "second", 1_500_000),
    ],
)
def test_read(text: str, kind: str, value: int) -> None:
    assert read(text, kind) == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "day"), ("1 day", "day"), ("1-12", "year to month"), ("1 24:00:00", "day to second"),
        ("1:60", "hour to minute"), ("--1", "day"), ("1.5", "day"), ("INTERVAL '1' DAY", "hour"),
        ("a", "month"),
        ("178956971-0", "year to month"), ("1.0000000001", "second"), ("1 02:03", "day to second"),
    ],
)  # fmt: skip
def test_what_is_no_interval(text: str, kind: str) -> None:
    with pytest.raises(NoInterval) as raised:
        read(text, kind)
    assert (raised.value.condition and f"'{text}'" in str(raised.value)) or "outside range" in str(
        raised.value
    )
