"""The step clock never goes back, whoever drives it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from dbsp.circuits.errors import DataError
from dbsp.running.clock import in_zone, moment, now, spelled
from dbsp.state.records.commits import Commit

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
FAR = datetime(2999, 1, 1, tzinfo=UTC)


def last(clock: datetime | None, machine: bool) -> Commit:
    return Commit(1, "f1", {}, clock=clock, machine_clock=machine)


@pytest.mark.parametrize("before", [None, last(None, False), last(NOON, False), last(NOON, True)])
@pytest.mark.parametrize("watched", [False, True])
def test_a_clock_that_is_given_is_taken(before: Commit | None, watched: bool) -> None:
    assert moment(NOON, before, watched) == (NOON, False)
    assert moment(NOON + SECOND, before, watched) == (NOON + SECOND, False)


def test_a_clock_before_the_last_one_is_refused() -> None:
    said = (
        "the step's clock 2024-01-01 11:59:59 is before the last step's 2024-01-01 12:00:00; "
        "the clock never goes back"
    )
    with pytest.raises(DataError) as caught:
        moment(NOON - SECOND, last(NOON, True), True)
    assert str(caught.value) == said


def test_without_one_a_driven_clock_stands_still_and_the_machine_s_goes_on() -> None:
    assert moment(None, last(NOON, False), True) == (NOON, False)
    began = datetime.now(UTC)
    read, of_machine = moment(None, last(NOON, True), True)
    assert of_machine
    assert read is not None
    assert began <= read <= datetime.now(UTC)
    assert moment(None, last(FAR, True), True) == (FAR, True), "the machine's was put back"
    assert moment(None, None, True)[1]
    assert moment(None, last(NOON, True), False) == (None, False), "nobody watches it"
    assert now(FAR) == FAR


def test_a_clock_without_a_zone_is_in_the_program_s() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert in_zone(datetime(2024, 7, 1, 12), "Europe/Berlin") == datetime(2024, 7, 1, 12, tzinfo=berlin)
    elsewhere = datetime(2024, 7, 1, 12, tzinfo=timezone(timedelta(hours=5)))
    assert in_zone(elsewhere, "Europe/Berlin") is elsewhere
    assert in_zone(None, "UTC") is None
    with pytest.raises(DataError, match=r"clock is 12; give a datetime\.datetime"):
        in_zone(12, "UTC")  # type: ignore[arg-type]
    assert spelled(elsewhere) == "2024-07-01 07:00:00"
