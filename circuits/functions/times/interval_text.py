"""Intervals as text, and text as intervals: `1-2`, `INTERVAL '1-2' YEAR TO MONTH`, `1 02:03:04.5`.

Which parts an interval is spelled in (YEAR TO MONTH, DAY, MINUTE TO SECOND ...) belongs to Spark's type of
it; the value is a number of months or of microseconds all the same.
"""

from __future__ import annotations

import re
from functools import cache

from dbsp.circuits.columns.forms.months import LEAST, MOST
from dbsp.circuits.functions.times.time_zones import DAY, SECOND

_UNITS = {"day": DAY, "hour": 3600 * SECOND, "minute": 60 * SECOND, "second": SECOND}
_BELOW = {"hour": 24, "minute": 60, "second": 60, "month": 12}
_MOST_DIGITS = {"day": 9, "hour": 10, "minute": 12, "second": 13}  # of the first part
_ORDER = ("day", "hour", "minute", "second")
_SEPARATORS = {"hour": " ", "minute": ":", "second": ":", "month": "-"}
UNMATCHED = "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING"
PARSING = "INVALID_INTERVAL_FORMAT.INTERVAL_PARSING"


class NoInterval(ValueError):
    """condition: Spark's name of the error."""

    def __init__(self, condition: str, message: str) -> None:
        super().__init__(message)
        self.condition = condition


@cache
def fields(kind: str) -> tuple[str, ...]:
    """`interval hour to second` → hour, minute, second."""
    first, *last = kind.removeprefix("interval ").split(" to ")
    if first in ("year", "month"):
        return (first, *last)
    stop = last[0] if last else first
    return _ORDER[_ORDER.index(first) : _ORDER.index(stop) + 1]


def is_months(kind: str) -> bool:
    """Whether it is an interval of years and months."""
    return fields(kind)[0] in ("year", "month")


def unit_of(kind: str) -> int:
    """How many months or microseconds its last part counts."""
    last = fields(kind)[-1]
    return {"year": 12, "month": 1}[last] if is_months(kind) else _UNITS[last]


def spelled(value: int, kind: str) -> str:
    """As CAST to STRING spells it. value: months or microseconds."""
    parts = fields(kind)
    name = " TO ".join(dict.fromkeys((parts[0], parts[-1]))).upper()
    size, sign = abs(value), "-" if value < 0 else ""
    if is_months(kind):
        years, months = divmod(size, 12)
        number = {"year": f"{years}", "month": f"{size}"}.get(parts[0]) if len(parts) == 1 else None
        return f"INTERVAL '{sign}{number or f'{years}-{months}'}' {name}"
    text = ""
    for place, part in enumerate(parts):
        count, size = divmod(size, _UNITS[part])
        shown = str(count) if part == "day" else f"{count:02d}"
        text += shown if place == 0 else _SEPARATORS[part] + shown
    if parts[-1] == "second" and size:
        text += f".{size:06d}".rstrip("0")
    return f"INTERVAL '{sign}{text}' {name}"


def read(text: str, kind: str) -> int:
    """The months or microseconds. Raises NoInterval."""
    plain, literal = _patterns(kind)
    text = _trimmed(text)
    found, negative = plain.fullmatch(text), False
    if found is None:
        found = literal.fullmatch(text)
        if found is None:
            notice = "" if is_months(kind) else "_WITH_NOTICE"
            raise NoInterval(UNMATCHED + notice, f"'{text}' is no {kind.upper()}")
        negative = found["outer"] == "-"
    negative ^= found["sign"] == "-"
    counts = [int(found[part]) for part in fields(kind)]
    fraction = found["fraction"] if fields(kind)[-1] == "second" else None
    value = _months(counts, kind) if is_months(kind) else _micros(counts, fraction or "", kind)
    value = -value if negative else value
    limits = (LEAST, MOST) if is_months(kind) else (-(2**63), 2**63 - 1)
    if len(counts) == 1 and fields(kind)[0] in ("day", "hour", "minute"):
        return (value + 2**63) % 2**64 - 2**63  # Spark doesn't look
    if not limits[0] <= value <= limits[1]:
        raise NoInterval(PARSING, f"'{text}' is out of the range of {kind.upper()}")
    return value


def _trimmed(text: str) -> str:
    """Without what Spark takes for space: all up to the blank, and DEL."""
    return text.strip("".join(map(chr, range(33))) + "\x7f")


def _months(counts: list[int], kind: str) -> int:
    if len(counts) == 1:
        return counts[0] * unit_of(kind)
    years, months = counts
    if months >= 12:
        raise NoInterval(PARSING, f"month {months} outside range [0, 11]")
    return years * 12 + months


def _micros(counts: list[int], fraction: str, kind: str) -> int:
    total = int(fraction[:6].ljust(6, "0")) if fraction else 0
    for place, (part, count) in enumerate(zip(fields(kind), counts, strict=True)):
        if place and count >= _BELOW[part]:
            raise NoInterval(PARSING, f"{part} {count} outside range [0, {_BELOW[part] - 1}]")
        total += count * _UNITS[part]
    return total


@cache
def _patterns(kind: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The bare number, and that inside of INTERVAL '...' UNIT."""
    parts = fields(kind)
    number = ""
    for place, part in enumerate(parts):
        most = "" if is_months(kind) else 2 if place else _MOST_DIGITS[part]
        digits = f"[0-9]{{1,{most}}}"
        number += ("" if place == 0 else _SEPARATORS[part]) + f"(?P<{part}>{digits})"
    if parts[-1] == "second":
        number += r"(?:\.(?P<fraction>[0-9]{1,9}))?"
    name = r"\s+to\s+".join(dict.fromkeys((parts[0], parts[-1])))
    plain = f"(?P<sign>[+|-])?{number}"
    literal = rf"interval\s+(?P<outer>[+|-])?'(?P<sign>[+|-])?{number}'\s+{name}"
    return re.compile(plain), re.compile(literal, re.IGNORECASE | re.ASCII)
