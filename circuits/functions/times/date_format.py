"""DATE_FORMAT and FROM_UNIXTIME: timestamps as text by a datetime pattern.

Formatting happens once per distinct value of the finest unit that the pattern shows, so that a column of a
million instants costs as many texts as it has days, or minutes. Each field is a column taken from a small
table of texts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.by_value import by_value
from dbsp.circuits.expressions.vectors.numbers import Numbers, strict, vector
from dbsp.circuits.functions.times.date_patterns import (
    OFFSETS,
    Field,
    check_format,
    read_pattern,
    refuse_format,
)
from dbsp.circuits.functions.times.dates import month_numbers, month_starts, weekdays, year_starts, years
from dbsp.circuits.functions.times.time_zones import DAY, SECOND, time_zone

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HOUR, _MINUTE = 3600 * SECOND, 60 * SECOND
_UNITS = {"a": _HOUR, "H": _HOUR, "h": _HOUR, "k": _HOUR, "K": _HOUR, "m": _MINUTE, "s": SECOND, "S": 1}
_SHOW_OFFSETS = OFFSETS + "O"


def _refuse(call: Call) -> str | None:
    pattern = call.arguments[1]
    if not isinstance(pattern, Literal) or pattern.value is None:
        return None
    return refuse_format(str(pattern.value))


@strict("date_format_class", refuse=_refuse)
@by_value(1, check_format)
def date_format(call: Call, timestamps: pa.Array, pattern: Value) -> Value:
    """The timestamps on the session's clocks, by the pattern."""
    return format_instants(call, timestamps.view(pa.int64()), pattern.as_py())


@strict("from_unix_time", refuse=_refuse)
@by_value(1, check_format)
def from_unix_time(call: Call, seconds: pa.Array, pattern: Value) -> Value:
    return format_instants(call, pc.multiply(seconds.cast(pa.int64()), SECOND), pattern.as_py())


def format_instants(call: Call, instants: pa.Array, pattern: str) -> pa.Array:
    """Microseconds since 1970 UTC (BIGINT) on the session's clocks, by the pattern."""
    fields = read_pattern(pattern)
    assert not isinstance(fields, str), fields
    of_era = any(field.letter == "G" for field in fields)
    fields = tuple(Field("era year", f.count) if of_era and f.letter == "y" else f for f in fields)
    unit = min((_UNITS.get(field.letter, DAY) for field in fields), default=DAY)
    zone = time_zone(str(call.option("timeZoneId", "UTC")))
    micros = vector(instants)
    local = zone.to_local(micros.values)
    # An offset belongs to the instant, of which two may have the same local time.
    shows_offset = any(field.letter and field.letter in _SHOW_OFFSETS for field in fields)
    zone_id = Field("", 1, zone.name)
    fields = tuple(zone_id if field.letter == "V" else field for field in fields)
    keys = micros.values if shows_offset else local // unit
    null = None if micros.valid is None else ~micros.valid
    if unit == 1 and not shows_offset:  # nearly every row has a text of its own
        texts = _texts(fields, local, np.zeros(0, np.int64))
        return texts if null is None else pc.if_else(pa.array(~null), texts, pa.scalar(None, pa.string()))
    encoded = pa.array(keys, mask=null).dictionary_encode()
    distinct = encoded.dictionary.to_numpy()
    shown = zone.to_local(distinct) if shows_offset else distinct * unit
    offsets = shown - distinct if shows_offset else np.zeros(0, np.int64)
    return _texts(fields, shown, offsets).take(encoded.indices)


def _texts(fields: tuple[Field, ...], local: Numbers, offsets: Numbers) -> pa.Array:
    """One text per local time. Neighbouring fields of the date are one piece, formatted once per day."""
    pieces: list[Value] = []
    for of_date, run in groupby(fields, lambda field: field.letter in _DATE_FIELDS):
        if not of_date:
            pieces += [_piece(field, local, offsets) for field in run]
            continue
        encoded = pa.array(local // DAY).dictionary_encode()
        days = encoded.dictionary.to_numpy()
        texts = [_DATE_FIELDS[field.letter](days, field.count) for field in run]
        pieces.append(_joined(texts, len(days)).take(encoded.indices))
    return _joined(pieces, len(local))


def _joined(pieces: list[Value], rows: int) -> pa.Array:
    if not any(isinstance(piece, pa.Array) for piece in pieces):
        return pa.array(["".join(piece.as_py() for piece in pieces)] * rows, pa.string())
    return pc.binary_join_element_wise(*pieces, "") if len(pieces) > 1 else pieces[0]


def _piece(field: Field, local: Numbers, offsets: Numbers) -> Value:
    """The texts of a literal or of a field that isn't the date's; brackets around optional parts vanish."""
    if not field.letter:
        return pa.scalar("" if field.bracket else field.text)
    if field.letter == "O":
        return _distinct(offsets // SECOND, field.count, _gmt)
    if field.letter in OFFSETS:
        return _distinct(offsets // SECOND, field.count, partial(_offset, letter=field.letter))
    return _TIME_FIELDS[field.letter](local % DAY, field.count)


def _padded(numbers: Numbers, end: int, width: int) -> pa.Array:
    """Numbers below `end`, with leading zeros up to the width."""
    return pa.array([f"{number:0{width}}" for number in range(end)]).take(pa.array(numbers))


def _names(names: tuple[str, ...], numbers: Numbers, count: int) -> pa.Array:
    return pa.array([name[:3] if count == 3 else name for name in names]).take(pa.array(numbers))


def _distinct(numbers: Numbers, count: int, text: Callable[[int, int], str]) -> pa.Array:
    """Each distinct number as text: there are few years and few offsets in a column."""
    present, inverse = np.unique(numbers, return_inverse=True)
    return pa.array([text(number, count) for number in present.tolist()], pa.string()).take(pa.array(inverse))


def _year(year: int, count: int) -> str:
    """From four letters on a longer year is marked by its sign; two letters are the last two digits."""
    if count == 2:
        return f"{abs(year) % 100:02}"
    digits = f"{abs(year):0{count}}"
    return f"-{digits}" if year < 0 else f"+{digits}" if len(digits) > count >= 4 else digits


def _offset(seconds: int, count: int, letter: str) -> str:
    """±hh[mm], ±hhmm, ±hh:mm for one, two, three letters; Z writes ±hhmm for each."""
    if letter == "X" and seconds == 0:
        return "Z"
    sign, minutes = "-" if seconds < 0 else "+", abs(seconds) // 60
    hours, minutes = divmod(minutes, 60)
    if letter == "Z" or count == 2:
        return f"{sign}{hours:02}{minutes:02}"
    if count == 3:
        return f"{sign}{hours:02}:{minutes:02}"
    return f"{sign}{hours:02}{minutes:02}" if minutes else f"{sign}{hours:02}"


def _gmt(seconds: int, count: int) -> str:
    """GMT, GMT+2, GMT-4:56:02, or with four letters GMT+02:00."""
    if seconds == 0:
        return "GMT"
    minutes, second = divmod(abs(seconds), 60)
    hours, minute = divmod(minutes, 60)
    text = f"GMT{'-' if seconds < 0 else '+'}" + (f"{hours:02}" if count == 4 else f"{hours}")
    if count == 4 or minute or second:
        text += f":{minute:02}"
    return text + (f":{second:02}" if second else "")


def _era(days: Numbers, count: int) -> pa.Array:
    names = ("Before Christ", "Anno Domini") if count == 4 else ("BC", "AD")
    return pa.array(names).take(pa.array((years(days) > 0).astype(np.int64)))


def _era_year(days: Numbers, count: int) -> pa.Array:
    """Year 0 is the first before Christ."""
    of_days = years(days)
    return _distinct(np.where(of_days > 0, of_days, 1 - of_days), count, _year)


_THOUSAND = pa.array([f"{number:03}" for number in range(1000)])


def _fraction(micros: Numbers, count: int) -> pa.Array:
    """The first `count` decimal places of the second, by tables of three digits."""
    millis = _THOUSAND.take(pa.array(micros // 1000))
    if count < 3:
        return pc.utf8_slice_codeunits(millis, 0, count)
    rest = _THOUSAND.take(pa.array(micros % 1000))
    rest = pc.utf8_slice_codeunits(rest, 0, min(count - 3, 3)) if count < 6 else rest
    return pc.binary_join_element_wise(millis, rest, "0" * max(count - 6, 0), "")


def _month(days: Numbers, count: int) -> pa.Array:
    months = month_numbers(days) % 12
    return _names(MONTHS, months, count) if count > 2 else _padded(months + 1, 13, count)


def _day_of_month(days: Numbers) -> Numbers:
    """0-based."""
    return days - month_starts(month_numbers(days))


def _quarter(days: Numbers, count: int) -> pa.Array:
    quarters = month_numbers(days) % 12 // 3
    if count > 2:
        names = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter") if count == 4 else _QUARTERS
        return pa.array(names).take(pa.array(quarters))
    return _padded(quarters + 1, 5, count)


_QUARTERS = ("Q1", "Q2", "Q3", "Q4")


# letter → the texts of a field of the date (days) or of the time (µs of the day)
_DATE_FIELDS: dict[str, Callable[[Numbers, int], pa.Array]] = {
    "y": lambda days, count: _distinct(years(days), count, _year),
    "G": _era,
    "era year": _era_year,
    "M": _month,
    "L": _month,
    "d": lambda days, count: _padded(_day_of_month(days) + 1, 32, count),
    "D": lambda days, count: _padded(days - year_starts(years(days)) + 1, 367, count),
    "E": lambda days, count: _names(WEEKDAYS, weekdays(days), max(count, 3)),
    "F": lambda days, count: _padded(_day_of_month(days) % 7 + 1, 8, 1),
    "Q": _quarter,
    "q": _quarter,
}
_TIME_FIELDS: dict[str, Callable[[Numbers, int], pa.Array]] = {
    "a": lambda time, count: pa.array(["AM", "PM"]).take(pa.array(time // (12 * _HOUR))),
    "H": lambda time, count: _padded(time // _HOUR, 24, count),
    "h": lambda time, count: _padded((time // _HOUR + 11) % 12 + 1, 13, count),
    "k": lambda time, count: _padded((time // _HOUR + 23) % 24 + 1, 25, count),
    "K": lambda time, count: _padded(time // _HOUR % 12, 12, count),
    "m": lambda time, count: _padded(time // _MINUTE % 60, 60, count),
    "s": lambda time, count: _padded(time // SECOND % 60, 60, count),
    "S": lambda time, count: _fraction(time % SECOND, count),
}
