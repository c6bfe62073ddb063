"""The step clock: which moment a step has. It is an input of the step and recorded, and never goes back.

A caller that gives a step its time drives the clock from then on, and a step without one stays where the
clock is. Else a program that watches the clock (NOW(), AFTER DELAY) reads the machine's.
"""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from dbsp.circuits.errors import DataError
from dbsp.state.records.commits import Commit

# where a replay file starts that doesn't say
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(given: datetime | None, last: Commit | None, watched: bool) -> tuple[datetime | None, bool]:
    """(the step's clock, whether it is the machine's). given: with a time zone. Raises DataError.

    watched: the program needs one.
    """
    before = None if last is None else last.clock
    if given is not None:
        if before is not None and given < before:
            raise DataError(
                f"the step's clock {spelled(given)} is before the last step's {spelled(before)}; "
                "the clock never goes back"
            )
        return given, False
    if not watched:
        return None, False
    if before is not None and last is not None and not last.machine_clock:
        return before, False
    return now(before), True


def instant(clock: datetime | None, of_machine: bool, last: Commit | None) -> tuple[datetime, bool]:
    """(when a step counts as made, whether a caller said so): what a question as of a time goes by.

    It is the step's clock. A step that has none stays where a caller's clock is, or else reads the machine's.
    Of one clock or the other it never goes back. clock, of_machine: see `moment`.
    """
    if clock is None and last is not None and last.driven and last.instant is not None:
        return last.instant, True
    driven = clock is not None and not of_machine
    before = last.instant if last is not None and last.driven == driven else None
    if clock is None:
        return now(before), False
    return clock if before is None else max(clock, before), driven


def in_zone(given: datetime | None, timezone: str) -> datetime | None:
    """With a time zone: the program's, unless it has one. Raises DataError for what is no datetime."""
    if given is not None and not isinstance(given, datetime):
        raise DataError(f"clock is {given!r}; give a datetime.datetime")
    if given is not None and given.tzinfo is None:
        return given.replace(tzinfo=ZoneInfo(timezone))
    return given


def now(before: datetime | None) -> datetime:
    """The machine's clock, or the last step's where that is ahead."""
    wall = datetime.now(UTC)
    return wall if before is None or wall > before else before


def spelled(clock: datetime) -> str:
    return clock.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
