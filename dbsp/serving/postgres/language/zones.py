"""Time zones as PostgreSQL says them: regions, hours, and POSIX's offsets, which count to the west.

    Europe/Berlin      2, '+02', 5.5, INTERVAL '+02:00'      UTC+3, <+03>-03, +02:00 (two hours to the west)

Source: PostgreSQL 17 documentation, 8.5.3 and appendix B.5.
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Sequence
from functools import cache

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.times.time_zones import time_zone
from dbsp.serving.postgres.language.spelling import Word

_HOURS = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_OFFSET = re.compile(r"([+-]?)(\d{1,3})(?::([0-5]?\d))?(?::([0-5]?\d))?")
_POSIX = re.compile(rf"(?:<[\w:+-]*>|[A-Za-z]*)({_OFFSET.pattern})")
# seconds, of Spark's offsets
_FURTHEST = 18 * 3600


def zone_said(words: Sequence[Word]) -> str | None:
    """A value of SET TIME ZONE as PostgreSQL shows it; None: it is none that is known. Words: one or more."""
    if words[0].upper == "INTERVAL" and len(words) > 1:
        after = [word.upper for word in words[2:]]
        found = _OFFSET.fullmatch(words[1].string) if after in ([], ["HOUR", "TO", "MINUTE"]) else None
        return None if found is None else _from_east(_seconds(*found.groups()))
    if len(words) == 1 and words[0].kind not in ("number", "symbol"):
        word = words[0]
        is_text = word.kind in ("string", "escaped", "dollars")
        return zone_named(word.string if is_text else word.text.strip('"'))
    return zone_named("".join(word.text for word in words))


def zone_named(text: str) -> str | None:
    """The same of a text."""
    if _HOURS.fullmatch(text):
        return _from_east(int(float(text) * 3600))
    found = _region(text) or text
    return None if zone_meant(found) is None else found


def zone_meant(shown: str) -> str | None:
    """The engine's name for what PostgreSQL shows: a region, or an offset to the east."""
    found = _region(shown)
    if found is not None:
        return found
    offset = _POSIX.fullmatch(shown)
    return None if offset is None else _east(-_seconds(*offset.groups()[1:]))


def zone_shown(name: str) -> str:
    """What PostgreSQL shows for the engine's name, whose offsets count to the east."""
    zone = time_zone(name)
    if _region(name) is not None or len(zone.starts):
        return name
    return _from_east(int(zone.offsets[0]) // 1_000_000) or name


def regions() -> list[str]:
    """Their names."""
    return [*_regions().values()]


def _region(name: str) -> str | None:
    """The region of that name, whatever its case."""
    found = _regions().get(name.lower())
    try:
        return None if found is None else time_zone(found).name
    except EvaluationError:
        return None


@cache
def _regions() -> dict[str, str]:
    return {name.lower(): name for name in zoneinfo.available_timezones()}


def _seconds(sign: str, hours: str, minutes: str | None, seconds: str | None) -> int:
    whole = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return -whole if sign == "-" else whole


def _east(seconds: int) -> str | None:
    """As Spark writes an offset."""
    if abs(seconds) > _FURTHEST:
        return None
    sign, said = "-" if seconds < 0 else "+", _clock(seconds)
    return f"{sign}{said}" if ":" in said else f"{sign}{said}:00"


def _from_east(seconds: int) -> str | None:
    """As PostgreSQL shows it."""
    if abs(seconds) > _FURTHEST:
        return None
    said = _clock(seconds)
    return f"<-{said}>+{said}" if seconds < 0 else f"<+{said}>-{said}"


def _clock(seconds: int) -> str:
    """02, 05:30, 00:44:30"""
    minutes, second = divmod(abs(seconds), 60)
    hour, minute = divmod(minutes, 60)
    parts = [hour, minute, second] if second else [hour, minute] if minute else [hour]
    return ":".join(f"{part:02}" for part in parts)
