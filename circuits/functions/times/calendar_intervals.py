"""MAKE_INTERVAL; intervals of months, days and microseconds as text and from it, times and by numbers.

1 year 2 months -3 days 4.5 seconds        a sign, a number, a unit; of seconds a fraction
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.calendar import CALENDAR_INTERVAL, Parts, intervals, parts_of
from dbsp.circuits.expressions.vectors.decimals import unscaled
from dbsp.circuits.expressions.vectors.modes import ANSI, mode
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, Vector, result
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.functions.times.time_zones import DAY, SECOND

_MINUTE, _HOUR = 60 * SECOND, 3600 * SECOND
# a unit: the part that it counts, and how many of it
_UNITS = {"year": (0, 12), "month": (0, 1), "week": (1, 7), "day": (1, 1), "hour": (2, _HOUR)}
_UNITS |= {"minute": (2, _MINUTE), "second": (2, SECOND), "millisecond": (2, 1000), "microsecond": (2, 1)}
_TERM = re.compile(
    r"(?P<sign>[+-]?)\s*(?P<whole>[0-9]*)(?P<fraction>\.[0-9]*)?\s+(?P<unit>[a-z]+)(?:\s+|$)", re.ASCII
)


@columnar("make_interval", strict=False)
def make_interval(call: Call, *given: pa.Array) -> pa.Array:
    """Of years, months, weeks, days, hours, minutes and seconds (a DECIMAL(18, 6))."""
    vectors = [unscaled(each) if pa.types.is_decimal(each.type) else _whole(each) for each in given]
    years, months, weeks, days, hours, minutes, seconds = (each.values.astype(object) for each in vectors)
    valid = np.logical_and.reduce([each.is_valid().to_numpy(zero_copy_only=False) for each in given])
    micros = seconds + hours * _HOUR + minutes * _MINUTE
    parts = [years * 12 + months, weeks * 7 + days, micros]
    return intervals(call, parts, valid, "ARITHMETIC_OVERFLOW")


def _whole(numbers: pa.Array) -> Vector:
    return Vector(numbers.fill_null(0).to_numpy(zero_copy_only=False), None, False)


@columnar("multiply_interval", strict=False)
def multiply(call: Call, given: pa.Array, factor: pa.Array) -> pa.Array:
    return _scaled(call, given, factor, np.multiply)


@columnar("divide_interval", strict=False)
def divide(call: Call, given: pa.Array, divisor: pa.Array) -> pa.Array:
    valid = divisor.is_valid().to_numpy(zero_copy_only=False)
    zero = valid & (divisor.fill_null(1).to_numpy(zero_copy_only=False) == 0)
    if zero.any() and mode(call) == ANSI:
        both = zero & given.is_valid().to_numpy(zero_copy_only=False)
        if both.any():
            row = int(np.argmax(both))
            raise EvaluationError("INTERVAL_DIVIDED_BY_ZERO", "an interval divided by zero", row)
    divisor = pc.if_else(pa.array(zero), pa.scalar(None, divisor.type), divisor)
    return _scaled(call, given, divisor, np.divide)


def _scaled(
    call: Call, given: pa.Array, number: pa.Array, operate: Callable[[Numbers, Numbers], Numbers]
) -> pa.Array:
    """In doubles: a fraction of a month is dropped, one of a day is so many microseconds."""
    x = parts_of(given)
    by = number.fill_null(1).to_numpy(zero_copy_only=False).astype(np.float64)
    valid: Mask = x.valid & number.is_valid().to_numpy(zero_copy_only=False)
    with np.errstate(all="ignore"):
        months, days, micros = (operate(part.astype(np.float64), by) for part in x.each)
        whole = np.trunc(np.nan_to_num(days, posinf=2.0**40, neginf=-(2.0**40)))
        micros = np.floor(micros + DAY * (days - whole) + 0.5)
    parts = [np.nan_to_num(part, posinf=2.0**70, neginf=-(2.0**70)) for part in (np.trunc(months), whole)]
    integers = [np.array([int(each) for each in part], object) for part in (*parts, _bounded(micros))]
    return intervals(call, integers, valid)


def _bounded(micros: Numbers) -> Numbers:
    """As Math.round makes a LONG of it: the nearest there is."""
    high = float(2**63)
    inside = np.nan_to_num(micros, nan=0.0, posinf=high, neginf=-high)
    return np.array([min(max(int(each), -(2**63)), 2**63 - 1) for each in inside], object)


def _whole_days(call: Call, parts: Parts) -> Numbers:
    """Those of the calendar, and those that the time makes up."""
    days = parts.days + _truncated(parts.microseconds, DAY)
    fits = (days >= -(2**31)) & (days < 2**31)
    if not fits.all():
        raise EvaluationError("ARITHMETIC_OVERFLOW", "integer overflow", int(np.argmin(fits)))
    return days


def _truncated(values: Numbers, unit: int) -> Numbers:
    """Divided towards zero, as Java divides."""
    return (values - np.fmod(values, unit)) // unit


_FIELDS: dict[str, Callable[[Call, Parts], Numbers]] = {
    "years": lambda _, parts: _truncated(parts.months, 12),
    "months": lambda _, parts: np.fmod(parts.months, 12),
    "days": _whole_days,
    "hours": lambda _, parts: _truncated(np.fmod(parts.microseconds, DAY), _HOUR),
    "minutes": lambda _, parts: _truncated(np.fmod(parts.microseconds, _HOUR), _MINUTE),
    "seconds": lambda _, parts: np.fmod(parts.microseconds, _MINUTE),
}


def _register_field(name: str) -> None:
    @columnar(f"extract_interval_{name}", strict=False)
    def run(call: Call, given: pa.Array) -> Value:
        parts = parts_of(given)
        return result(call, _FIELDS[name](call, parts), Vector(parts.days, parts.valid, False))


for _name in _FIELDS:
    _register_field(_name)


def string_to_calendar_interval(call: Call, source: pa.Array) -> pa.Array:
    """NULL of what is none, in every mode; each distinct text is read once."""
    encoded = source.dictionary_encode()
    values = [None if text is None else read(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(values, CALENDAR_INTERVAL).take(encoded.indices)


@lru_cache(maxsize=1 << 12)
def read(text: str) -> tuple[int, int, int] | None:
    """Months, days, microseconds; None of what is no interval."""
    rest = text.strip("".join(map(chr, range(33))) + "\x7f").lower()
    if rest.startswith("interval"):
        if not rest[8:9].isspace():
            return None
        rest = rest[8:].lstrip()
    total, at = [0, 0, 0], 0
    while at < len(rest):
        term = _TERM.match(rest, at)
        unit = None if term is None else _UNITS.get(term["unit"].removesuffix("s"))
        if term is None or unit is None or int(term["whole"] or 0) >= 2**63:
            return None
        fraction = (term["fraction"] or ".")[1:]
        if term["fraction"] is not None and (unit != _UNITS["second"] or len(fraction) > 9):
            return None
        if not term["whole"] and not fraction:
            return None
        at = term.end()
        part, size = unit
        count = int(term["whole"] or 0) * size + int(fraction[:6].ljust(6, "0"))
        total[part] += -count if term["sign"] == "-" else count
        limit = 2 ** (63 if part == 2 else 31)
        if not -limit <= total[part] < limit:
            return None
    return (total[0], total[1], total[2]) if at else None


def calendar_interval_to_string(call: Call, source: pa.Array) -> pa.Array:
    """`1 years 2 months -3 days 4.5 seconds`."""
    parts = parts_of(source)
    rows = zip(*(part.tolist() for part in parts.each), strict=True)
    texts = [spelled(*row) if valid else None for row, valid in zip(rows, parts.valid, strict=True)]
    return pa.array(texts, pa.string())


@lru_cache(maxsize=1 << 12)
def spelled(months: int, days: int, micros: int) -> str:
    """Each part that isn't 0, with its sign."""
    years, month = _divided(months, 12)
    hours, rest = _divided(micros, _HOUR)
    minutes, rest = _divided(rest, _MINUTE)
    named = ((years, "years"), (month, "months"), (days, "days"), (hours, "hours"), (minutes, "minutes"))
    shown = [f"{count} {name}" for count, name in named if count]
    if rest:
        text = f"{Decimal(rest).scaleb(-6):f}"
        shown.append(f"{text.rstrip('0').rstrip('.')} seconds")
    return " ".join(shown) or "0 seconds"


def _divided(value: int, unit: int) -> tuple[int, int]:
    """Towards zero."""
    quotient, rest = divmod(abs(value), unit)
    return (-quotient, -rest) if value < 0 else (quotient, rest)
