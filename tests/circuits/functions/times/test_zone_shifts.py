"""Clocks of other zones, against Python's zoneinfo."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.functions.library import find
from tests.circuits.functions.calling import call, called

TIME, LOCAL, TEXT = pa.timestamp("us", tz="UTC"), pa.timestamp("us"), pa.string()
zones = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"])
times = st.datetimes(datetime(1971, 1, 1), datetime(2037, 1, 1))


def is_clear(time: datetime, zone: str) -> bool:
    """Whether the clock shows this time once."""
    folds = [time.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC) for fold in (0, 1)]
    return folds[0] == folds[1]


@given(times, zones)
def test_there_and_back(time: datetime, zone: str) -> None:
    instant = pa.array([time.replace(tzinfo=UTC), None], TIME)
    shown = time.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=UTC)
    assert called("from_utc_timestamp", TIME, instant, pa.scalar(zone)) == [shown, None]
    if is_clear(time, zone):
        meant = time.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
        assert called("to_utc_timestamp", TIME, instant, pa.scalar(zone)) == [meant, None]


@given(times, zones, zones)
def test_from_zone_to_zone(time: datetime, source: str, target: str) -> None:
    if is_clear(time, source):
        expected = time.replace(tzinfo=ZoneInfo(source)).astimezone(ZoneInfo(target)).replace(tzinfo=None)
        arguments = pa.scalar(source), pa.scalar(target), pa.array([time], LOCAL)
        assert called("convert_timezone", LOCAL, *arguments) == [expected]


def test_no_zone() -> None:
    nothing = pa.scalar(None, TEXT)
    assert called(
        "from_utc_timestamp", TIME, pa.array([datetime(2024, 1, 1, tzinfo=UTC)], TIME), nothing
    ) == [None]
    local = pa.array([datetime(2024, 1, 1)], LOCAL)
    assert called("convert_timezone", LOCAL, pa.scalar("UTC"), nothing, local) == [None]


def refused(name: str, *arguments: Any) -> str | None:
    function = find(name)
    assert function is not None
    return function.refuse(call(name, TIME, *arguments))


@pytest.mark.parametrize("name", ["from_utc_timestamp", "to_utc_timestamp"])
def test_constant_zones_exist(name: str) -> None:
    instants = pa.array([], TIME)
    assert refused(name, instants, pa.array([], TEXT)) is None
    assert "that does not exist" in (refused(name, instants, pa.scalar("Mars/Olympus")) or "")
    assert refused(name, instants, pa.scalar("+02:00")) is None
    local = pa.array([], LOCAL)
    assert refused("convert_timezone", pa.scalar("Mars"), pa.scalar("UTC"), local)


def test_each_row_may_have_its_own_zone() -> None:
    noon = pa.array([datetime(2024, 7, 1, 12, tzinfo=UTC)] * 4, TIME)
    listed = pa.array(["Asia/Kolkata", None, "UTC", "Asia/Kolkata"], TEXT)
    hours = [t and (t.hour, t.minute) for t in called("from_utc_timestamp", TIME, noon, listed)]
    assert hours == [(17, 30), None, (12, 0), (17, 30)]
    local = pa.array([datetime(2024, 7, 1, 12)] * 4, LOCAL)
    found = called("convert_timezone", LOCAL, listed, pa.scalar("UTC"), local)
    assert [t and (t.hour, t.minute) for t in found] == [(6, 30), None, (12, 0), (6, 30)]
