"""PostgreSQL's interval: months, days and microseconds, as clients write it, and as Spark's literals.

1 year 2 mons -3 days 04:05:06.7        P1Y2M-3DT4H5M6.7S        1 day, 2:03:04
1-2        -1 02:03:04, whose sign is of both, as the standard says

Source: PostgreSQL 17 documentation, 8.5.4.
"""

from __future__ import annotations

import re
import struct
from decimal import ROUND_HALF_EVEN, Decimal

import pyarrow as pa

from dbsp.circuits.columns.forms.calendar_intervals import spelled as calendar_spelled
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import DataError
from dbsp.circuits.functions.times.interval_text import spelled

_DAY, _HOUR, _MINUTE, _SECOND = 86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
_TERM = re.compile(
    rf"\s*,?\s*(?:(?P<clock>[+-]?\d+:\d+(?::\d+(?:\.\d*)?)?)"
    rf"|(?P<years>[+-]?\d+)-(?P<months>\d+)"
    rf"|(?P<count>{_NUMBER})\s*(?P<unit>[a-zµ]*))(?![\w.])",
    re.IGNORECASE,
)
_ISO = re.compile(rf"P(?P<date>(?:{_NUMBER}[YMWD])*)(?:T(?P<time>(?:{_NUMBER}[HMS])+))?", re.IGNORECASE)
_ISO_TERM = re.compile(rf"({_NUMBER})([A-Z])", re.IGNORECASE)
# as DAY TO SECOND is spelled
_STANDARD = re.compile(r"([+-]?)(\d+)\s+(\d+:\d+(?::\d+(?:\.\d*)?)?)")
# months, days and microseconds of a unit; a fraction of it goes to the next
_UNITS = {
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), (12, 0, 0)),
    **dict.fromkeys(("mon", "mons", "month", "months"), (1, 0, 0)),
    **dict.fromkeys(("w", "week", "weeks"), (0, 7, 0)),
    **dict.fromkeys(("d", "day", "days"), (0, 1, 0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), (0, 0, _HOUR)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), (0, 0, _MINUTE)),
    **dict.fromkeys(("", "s", "sec", "secs", "second", "seconds"), (0, 0, _SECOND)),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), (0, 0, 1000)),
    **dict.fromkeys(("us", "µs", "usec", "usecs", "microsecond", "microseconds"), (0, 0, 1)),
}
_ISO_DATE = {"Y": "year", "M": "month", "W": "week", "D": "day"}
_ISO_TIME = {"H": "hour", "M": "minute", "S": "second"}
# days of a month, of which a fraction is given
_MONTH = 30


def interval(text: str) -> str:
    """A literal of Spark SQL. Raises DataError."""
    return literal_of(*parts_of(text))


def literal_of(months: int, days: int, micros: int) -> str:
    """DAY TO SECOND or YEAR TO MONTH where it is one of them. Raises DataError."""
    time = days * _DAY + micros
    if not (-(2**31) <= months < 2**31 and -(2**63) <= time < 2**63):
        raise DataError("an interval is out of the range of Spark's: 2^31 months, or 2^63 microseconds")
    if months and time:
        return f"CAST('{calendar_spelled(months, days, micros)}' AS INTERVAL)"
    if months:
        return spelled(months, "interval year to month")
    return spelled(time, "interval day to second")


def texts(column: pa.Array) -> pa.Array:
    """INTERVAL YEAR TO MONTH as `1-2`, DAY TO SECOND as `-1 02:03:04.5`: CAST reads them. large_string[n]"""
    kind = "interval year to month" if column.type == MONTHS else "interval day to second"
    encoded = column.cast(pa.int64()).dictionary_encode()
    spelt = [spelled(value, kind).split("'")[1] for value in encoded.dictionary.to_pylist()]
    return pa.array(spelt, pa.large_string()).take(encoded.indices)


def from_binary(value: bytes) -> str:
    """What the binary format has, as a text of it. Raises struct.error."""
    micros, days, months = struct.unpack("!qii", value)
    return f"{months} months {days} days {micros} microseconds"


def parts_of(text: str) -> tuple[int, int, int]:
    """Months, days, microseconds. Raises DataError."""
    plain = text.strip().removeprefix("@").strip()
    standard = _STANDARD.fullmatch(plain)
    if standard is not None:  # the sign is of both
        sign = -1 if standard[1] == "-" else 1
        _, days, micros = parts_of(f"{standard[2]} days {standard[3]}")
        return 0, sign * days, sign * micros
    is_ago = plain.lower().endswith(" ago")
    terms = _iso(plain) or _terms(plain[:-4] if is_ago else plain)
    if not terms:
        raise DataError(f"'{text[:40]}' is no interval, such as '1 day 02:03:04' or 'P1DT2H'")
    total = [Decimal(0)] * 3
    for count, unit in terms:
        for place, size in enumerate(_UNITS[unit]):
            total[place] += count * size
    total[1] += (total[0] - int(total[0])) * _MONTH  # what is less than a month is days, less than a day time
    total[2] += (total[1] - int(total[1])) * _DAY
    whole = int(total[0]), int(total[1]), int(total[2].to_integral_value(ROUND_HALF_EVEN))
    return (-whole[0], -whole[1], -whole[2]) if is_ago else whole


def _iso(text: str) -> list[tuple[Decimal, str]]:
    found = _ISO.fullmatch(text)
    if found is None:
        return []
    dates = [(Decimal(n), _ISO_DATE[unit.upper()]) for n, unit in _ISO_TERM.findall(found["date"])]
    times = [(Decimal(n), _ISO_TIME[unit.upper()]) for n, unit in _ISO_TERM.findall(found["time"] or "")]
    return dates + times


def _terms(text: str) -> list[tuple[Decimal, str]]:
    found: list[tuple[Decimal, str]] = []
    at = 0
    while at < len(text.rstrip()):
        term = _TERM.match(text, at)
        if term is None:
            return []
        at = term.end()
        if term["clock"] is not None:
            sign = -1 if term["clock"].startswith("-") else 1
            counts = term["clock"].lstrip("+-").split(":")
            found += [
                (sign * Decimal(n), u) for n, u in zip(counts, ("hour", "minute", "second"), strict=False)
            ]
        elif term["years"] is not None:
            sign = -1 if term["years"].startswith("-") else 1
            found += [(Decimal(term["years"]), "year"), (sign * Decimal(term["months"]), "month")]
        elif term["unit"].lower() in _UNITS:
            found.append((Decimal(term["count"]), term["unit"].lower()))
        else:
            return []
    return found
