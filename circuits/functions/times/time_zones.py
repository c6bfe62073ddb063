"""The rules of a time zone as sorted arrays, so that whole columns are converted at once.

A zone is a list of instants t₁ < t₂ < … at which its offset from UTC changes from o₍ᵢ₋₁₎ to oᵢ:

    local(t) = t + o(t),            o(t) = oᵢ for tᵢ ≤ t < tᵢ₊₁
    utc(l)   = l − o'(l),           o'(l) = oᵢ for tᵢ + max(o₍ᵢ₋₁₎, oᵢ) ≤ l

The second line is java.time's rule: in an overlap the earlier instant, and a local time inside a gap moves
on by the gap's length. After the last transition written down, the offsets repeat with the Gregorian
calendar's period of 400 years. Units: microseconds for columns, seconds inside a zone.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib import resources
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.vectors.numbers import Numbers

SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = 86_400 * SECOND
_PERIOD = 146_097 * DAY  # 400 years
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# java.time.ZoneId.SHORT_IDS, which Spark accepts
_SHORT = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
_FIXED = re.compile(r"(?:UTC|GMT|UT)?(?:([+-])(\d{1,2})(?::?([0-5]\d)(?::?([0-5]\d))?)?)?")


@dataclass(frozen=True, slots=True)
class TimeZone:
    """starts: µs UTC[n], ascending; offsets: µs[n + 1], offsets[i] holds before starts[i].

    repeats: the last 400 years of transitions recur forever.
    """

    name: str
    starts: Numbers
    offsets: Numbers
    local_starts: Numbers
    repeats: bool

    def to_local(self, instants: Numbers) -> Numbers:
        """µs since 1970 UTC → µs since 1970 on the zone's clocks."""
        return instants + self._offsets(instants, self.starts)

    def to_utc(self, local: Numbers) -> Numbers:
        """µs on the zone's clocks → µs UTC; see the module's text for gaps and overlaps."""
        return local - self._offsets(local, self.local_starts)

    def moved(self, instants: Numbers, local: Numbers) -> Numbers:
        """`instants` set to other local times, keeping their offset wherever `local` has it (an overlap)."""
        kept = local - self._offsets(instants, self.starts)
        return np.where(self.to_local(kept) == local, kept, self.to_utc(local))

    def start_of_day(self, days: Numbers) -> Numbers:
        """The first instant of each day: where midnight falls into a gap, the gap's end."""
        midnight = days.astype(np.int64) * DAY
        instants = self.to_utc(midnight)
        if len(self.starts) == 0:
            return instants
        # inside a gap to_utc has gone past the transition by what midnight lies inside it
        last = np.maximum(np.searchsorted(self.starts, instants, side="right") - 1, 0)
        gap = (self.to_local(instants) != midnight) & (self.starts[last] <= instants)
        return np.where(gap, self.starts[last], instants)

    def _offsets(self, times: Numbers, starts: Numbers) -> Numbers:
        if len(starts) == 0 or len(times) == 0:
            return self.offsets[:1]
        if self.repeats and times.max() > starts[-1]:
            times = times - np.maximum(times - starts[-1] + _PERIOD - 1, 0) // _PERIOD * _PERIOD
        # A delta is mostly between two transitions, where one offset serves all rows.
        first, last = np.searchsorted(starts, (times.min(), times.max()), side="right")
        if first == last:
            return self.offsets[first : first + 1]
        return self.offsets[np.searchsorted(starts, times, side="right")]


@lru_cache(maxsize=64)
def time_zone(name: str) -> TimeZone:
    """The zone of a Spark time zone name: a region, UTC, or an offset such as '+01:00' or 'GMT-3'.

    Raises EvaluationError [INVALID_TIMEZONE].
    """
    text = _SHORT.get(name, name)
    fixed = _FIXED.fullmatch("+00" if text in ("Z", "z") else text)
    if fixed is not None and (fixed[1] is not None or text):
        seconds = int(fixed[2] or 0) * 3600 + int(fixed[3] or 0) * 60 + int(fixed[4] or 0)
        if seconds > 18 * 3600:
            raise _invalid(name)
        return _zone(name, [], [-seconds if fixed[1] == "-" else seconds], repeats=False)
    try:
        instants, offsets = _written(text)
        zone = ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise _invalid(name) from error
    written = len(instants)
    _continue(zone, instants, offsets)
    return _zone(name, instants, offsets, repeats=len(instants) > written)


def _invalid(name: str) -> EvaluationError:
    return EvaluationError(
        "INVALID_TIMEZONE", f"'{name}' is not a time zone; use a region such as 'Europe/Berlin' or '+01:00'"
    )


def _zone(name: str, instants: list[int], offsets: list[int], repeats: bool) -> TimeZone:
    starts = np.array(instants, np.int64)
    steps = np.array(offsets, np.int64)
    # Transitions closer than their offsets' difference would fold back: the running maximum keeps order.
    local = np.maximum.accumulate(starts + np.maximum(steps[:-1], steps[1:])) if len(starts) else starts
    return TimeZone(name, starts * SECOND, steps * SECOND, local * SECOND, repeats)


def _written(name: str) -> tuple[list[int], list[int]]:
    """The transitions (s UTC) and offsets (s) that the zone's TZif file lists (RFC 9636)."""
    data = _file(name)
    header = struct.Struct(">4s c 15x 6l")
    _, _, is_utc, is_std, leaps, times, types, chars = header.unpack_from(data)
    # the 64-bit block follows the 32-bit one
    at = header.size + times * 5 + types * 6 + chars + leaps * 8 + is_std + is_utc
    _, _, is_utc, is_std, leaps, times, types, chars = header.unpack_from(data, at)
    at += header.size
    instants = np.frombuffer(data, ">i8", times, at).astype(np.int64)
    kinds = np.frombuffer(data, np.uint8, times, at + 8 * times)
    at += 9 * times
    seconds = np.array([struct.unpack_from(">l", data, at + 6 * kind)[0] for kind in range(types)], np.int64)
    offsets = np.concatenate((seconds[:1], seconds[kinds]))
    # '−infinity' entries of some compilers, and changes of name or of daylight saving only
    changes = (offsets[1:] != offsets[:-1]) & (instants > -(2**40))
    return instants[changes].tolist(), [int(offsets[0]), *offsets[1:][changes].tolist()]


def _file(name: str) -> bytes:
    if not re.fullmatch(r"[A-Za-z0-9+_-]+(?:/[A-Za-z0-9+_-]+)*", name):
        raise ZoneInfoNotFoundError(name)
    for directory in TZPATH:
        path = Path(directory, name)
        if path.is_file():
            return path.read_bytes()
    return resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()


def _continue(zone: ZoneInfo, instants: list[int], offsets: list[int]) -> None:
    """Append the transitions of one period after the last one written, as the file's rule gives them."""

    def offset(at: int) -> int:
        return int((_EPOCH + timedelta(seconds=at)).astimezone(zone).utcoffset().total_seconds())  # type: ignore[union-attr]

    at = max(instants[-1] if instants else 0, 0)
    week = 7 * 86_400  # no rule changes the offset twice in a week
    years = [offset(at + days * 86_400) for days in range(0, 800, 7)]
    if len(set(years)) == 1 and years[0] == offsets[-1]:
        return
    for start in range(at, at + _PERIOD // SECOND + 400 * 86_400, week):
        low, high = start, start + week
        after = offset(high)
        if after == offsets[-1]:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if offset(middle) == offsets[-1]:
                low = middle
            else:
                high = middle
        instants.append(high)
        offsets.append(after)
