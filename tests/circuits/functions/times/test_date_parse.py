"""Text as timestamps by a pattern, against Python's strptime."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.calling import called

TIME, TEXT = pa.timestamp("us", tz="UTC"), pa.string()
PATTERNS = {
    "yyyy-MM-dd HH:mm:ss": "%Y-%m-%d %H:%M:%S",
    "dd/MM/yyyy": "%d/%m/%Y",
    "yyyyMMddHHmmss": "%Y%m%d%H%M%S",
    "yyyy-MM-dd'T'HH:mm:ss.SSSSSS": "%Y-%m-%dT%H:%M:%S.%f",
    "yyyy-MM-dd hh:mm a": "%Y-%m-%d %I:%M %p",
    "'on' dd.MM.yyyy": "on %d.%m.%Y",
}
times = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))


def parse(pattern: str, *texts: str | None, zone: str = "UTC", fail: bool = False) -> list[Any]:
    array = pa.array(texts, TEXT)
    return called("get_timestamp", TIME, array, pa.scalar(pattern), timeZoneId=zone, failOnError=fail)


@pytest.mark.parametrize("pattern", PATTERNS)
@given(listed=st.lists(st.one_of(st.none(), times), max_size=4))
def test_what_strptime_reads(pattern: str, listed: list[datetime | None]) -> None:
    texts = [None if t is None else t.strftime(PATTERNS[pattern]) for t in listed]
    expected = [
        None if t is None else datetime.strptime(t, PATTERNS[pattern]).replace(tzinfo=UTC) for t in texts
    ]
    assert parse(pattern, *texts) == expected


@given(times)
def test_a_text_without_a_zone_is_local(time: datetime) -> None:
    text = time.strftime("%Y-%m-%d %H:%M:%S")
    berlin = ZoneInfo("Europe/Berlin")
    local = time.replace(microsecond=0, tzinfo=berlin)
    is_gap = local.astimezone(UTC).astimezone(berlin).replace(tzinfo=None) != local.replace(tzinfo=None)
    if time.year >= 1946 and not is_gap:
        assert parse("yyyy-MM-dd HH:mm:ss", text, zone="Europe/Berlin") == [local.astimezone(UTC)]


BAD = ["", "2024-02-30", "2024-13-01", "2024-2-1x", "24-02-29", " 2024-02-29", "2024-02-29 10"]


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_date(text: str) -> None:
    assert parse("yyyy-MM-dd", text, "2024-02-29") == [None, datetime(2024, 2, 29, tzinfo=UTC)]
    with pytest.raises(EvaluationError) as raised:
        parse("yyyy-MM-dd", "2024-02-29", text, fail=True)
    assert raised.value.row == 1


def test_hours_of_half_a_day() -> None:
    texts = ["2024-01-01 12:30 AM", "2024-01-01 12:30 PM", "2024-01-01 01:30 PM"]
    assert [t.hour for t in parse("yyyy-MM-dd hh:mm a", *texts)] == [0, 12, 13]


def test_seconds_since_1970() -> None:
    for name in ("unix_timestamp", "to_unix_timestamp"):
        arguments = pa.array(["1970-01-02", None, "no"]), pa.scalar("yyyy-MM-dd")
        assert called(name, pa.int64(), *arguments, timeZoneId="UTC", failOnError=False) == [
            86400,
            None,
            None,
        ]
        days = pa.array([date(1970, 1, 2)])
        assert called(name, pa.int64(), days, pa.scalar("y"), timeZoneId="Europe/Berlin") == [86400 - 3600]
        instants = pa.array([-1, 1_999_999], pa.int64()).view(TIME)
        assert called(name, pa.int64(), instants, pa.scalar("y"), timeZoneId="UTC") == [0, 1], "towards zero"
