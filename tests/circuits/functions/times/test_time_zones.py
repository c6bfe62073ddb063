"""Zones as arrays agree with zoneinfo on every instant, and with java.time's rules on local times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.functions.library import find
from dbsp.circuits.functions.times.time_zones import SECOND, time_zone

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(moment: str) -> np.ndarray:
    return np.array([np.datetime64(moment, "us").astype(np.int64)])


@pytest.mark.parametrize(
    "name", ["Europe/Berlin", "America/New_York", "Africa/Casablanca", "Asia/Kolkata", "Pacific/Apia"]
)
def test_offsets_until_the_year_8000(name: str) -> None:
    seconds = np.random.default_rng(3).integers(-4 * 10**9, 190 * 10**9, 3000)
    zone = ZoneInfo(name)
    expected = [
        (EPOCH + timedelta(seconds=int(at))).astimezone(zone).utcoffset().total_seconds() for at in seconds
    ]
    offsets = time_zone(name).to_local(seconds * SECOND) // SECOND - seconds
    assert offsets.tolist() == expected


def test_a_local_time_in_a_gap_moves_on_and_one_in_an_overlap_is_the_earlier() -> None:
    berlin = time_zone("Europe/Berlin")
    assert berlin.to_utc(micros("2024-03-31T02:30")) == micros("2024-03-31T01:30")
    assert berlin.to_utc(micros("2024-10-27T02:30")) == micros("2024-10-27T00:30")


def test_moving_into_an_overlap_keeps_the_offset() -> None:
    berlin = time_zone("Europe/Berlin")
    later = micros("2024-10-27T01:30")
    assert berlin.moved(later, berlin.to_local(later)) == later


def test_a_day_may_begin_after_midnight() -> None:
    """Toronto's clocks went from 23:30 to 0:30 on 30 March 1919."""
    day = np.array([np.datetime64("1919-03-31", "D").astype(np.int64)])
    assert time_zone("America/Toronto").start_of_day(day) == micros("1919-03-31T04:30")


@pytest.mark.parametrize(
    ("name", "hours"), [("+05:30", 5.5), ("GMT-3", -3), ("UTC", 0), ("Z", 0), ("MST", -7)]
)
def test_fixed_offsets(name: str, hours: float) -> None:
    assert time_zone(name).to_local(np.zeros(1, np.int64)) == hours * 3600 * SECOND


@pytest.mark.parametrize("name", ["nowhere", "+19:00", "../etc/passwd", "Europe", ""])
def test_unknown_zones(name: str) -> None:
    with pytest.raises(EvaluationError, match=r"\[INVALID_TIMEZONE\].*is not a time zone"):
        time_zone(name)


def test_an_unknown_zone_is_refused_when_compiling() -> None:
    stamp = pa.timestamp("us", "UTC")
    call = Call("from_utc_timestamp", (Column(0, stamp), Literal("Europe/Berlim", pa.string())), stamp)
    function = find("from_utc_timestamp")
    assert function is not None
    assert "'Europe/Berlim' is not a time zone" in (function.refuse(call) or "")
