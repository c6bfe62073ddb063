"""Differences: what a comparison says of how far a value of one side lies from one of the other.

    b.id − a.id BETWEEN 1 AND 20                          1 <= b.id − a.id <= 20
    abs(a.id − b.id) <= 2                                 −2 <= a.id − b.id <= 2
    unix_timestamp(b.ts) − unix_timestamp(a.ts) < 600     b.ts − a.ts < 600 s, and what rounding leaves

It is of the values as they are stored: integers, days of a DATE, microseconds of a TIMESTAMP. Any pair of
which the comparison is true is within; more may be.

A difference of far values is an overflow, so that the comparison fails, or is of another number. From which
distance on, is said: such pairs must be looked at, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.expressions.monotone import is_fixed_zone
from dbsp.circuits.expressions.nodes import Call, Expression, Literal
from dbsp.circuits.expressions.predicates import FLIPPED
from dbsp.sql.plans.expressions.safe import is_safe, widens
from dbsp.sql.plans.schemas import UNITS

_SECOND = UNITS["SECOND"]
_LENGTHS = {**UNITS, "DAYOFYEAR": UNITS["DAY"]}
# by which local times are further apart than instants, at most: a zone is within 18 hours of UTC
_SHIFTS = 36 * UNITS["HOUR"]


@dataclass(frozen=True)
class Difference:
    """least <= minuend − subtrahend <= most where the comparison is true; None: it has no such bound.

    reach: a pair of at least this distance may make it fail, or be of another number; None: there is none.
    """

    minuend: Expression
    subtrahend: Expression
    least: int | None
    most: int | None
    reach: int | None


def difference(comparison: Expression) -> Difference | None:
    """What it says of two values; None: nothing, or of others than two."""
    if not isinstance(comparison, Call) or comparison.function not in (*FLIPPED, "equal_to"):
        return None
    function, sides = comparison.function, [_Sum.of(argument) for argument in comparison.arguments]
    if function == "equal_to" and any(side is not None and len(side.terms) == 1 for side in sides):
        return None  # the equality of two values is a key
    a, b = sides
    if a is not None and b is not None and b.absolute:
        function, a, b = FLIPPED.get(function, function), b, a
    apart = None if a is None or b is None else _minus(a, b)
    if a is None or apart is None or sorted(sign for sign, _ in apart.terms) != [-1, 1]:
        return None
    end = -apart.constant
    if not a.absolute:
        ends = (None if function.startswith("less") else end, None if function.startswith("greater") else end)
    elif function.startswith("greater"):
        return None
    else:
        ends = (-end, end)
    least, most = (None if each is None else each * apart.unit for each in ends)
    values = dict(apart.terms)
    return Difference(
        values[1],
        values[-1],
        None if least is None else least - apart.slack,
        None if most is None else most + apart.slack,
        apart.reach,
    )


@dataclass(frozen=True)
class _Sum:
    """Σ sign · value / unit + constant, rounded: by less than `slack` of the values together.

    low, high: between which it is. absolute: it is the absolute value of that, before the constant.
    """

    terms: tuple[tuple[int, Expression], ...]
    constant: int
    unit: int
    low: int
    high: int
    slack: int = 0
    reach: int | None = None
    absolute: bool = False

    @property
    def negated(self) -> _Sum:
        terms = tuple((-sign, value) for sign, value in self.terms)
        return replace(self, terms=terms, constant=-self.constant, low=-self.high, high=-self.low)

    @property
    def is_plain(self) -> bool:
        """One value as it is stored."""
        return len(self.terms) == 1 and not self.constant and self.unit == 1

    @staticmethod
    def of(expression: Expression) -> _Sum | None:
        """None: it is no such sum, or one whose overflows don't follow from the distance of two values."""
        if isinstance(expression, Literal):
            number = expression.value
            if isinstance(number, timedelta):
                number //= timedelta(microseconds=1)
            elif not pt.is_integer(expression.type):
                return None
            return _Sum((), number, 0, number, number) if isinstance(number, int) else None
        reading = _READINGS.get(expression.function) if isinstance(expression, Call) else None
        if reading is not None and isinstance(expression, Call):
            return reading(expression)
        return _value(expression) if pt.is_integer(expression.type) else None


def _value(value: Expression) -> _Sum | None:
    """An integer or a DATE, which is its days."""
    if not (pt.is_signed_integer(value.type) or pt.is_date32(value.type)) or not is_safe(value):
        return None
    low, high = _range(value.type)
    return _Sum(((1, value),), 0, 1, low, high)


def _cast(call: Call) -> _Sum | None:
    (argument,) = call.arguments
    if pt.is_timestamp(argument.type) and call.type == pa.int64():
        return _units(argument, _SECOND)
    return _Sum.of(argument) if pt.is_integer(call.type) and widens(argument, call) else None


def _units(time: Expression, unit: int) -> _Sum | None:
    """Its units since 1970, rounded down or towards zero."""
    if not pt.is_timestamp(time.type) or not is_safe(time):
        return None
    low, high = _range(pa.int64())
    return _Sum(((1, time),), 0, unit, low // unit, high // unit, unit - 1)


def _between(call: Call, end: Expression, start: Expression, unit: int | None) -> _Sum | None:
    """Whole units from one local time to another. No pair of times overflows them but microseconds."""
    if unit is None or not all(pt.is_timestamp(time.type) and is_safe(time) for time in (start, end)):
        return None
    shifts = 0 if is_fixed_zone(call) else _SHIFTS
    _, high = _range(pa.int64())
    farthest = min(high, (2 * high + shifts) // unit + 1)
    reach = high - shifts if unit == 1 else None
    return _Sum(((1, end), (-1, start)), 0, unit, -farthest, farthest, unit - 1 + shifts, reach)


def _timestamp_diff(call: Call) -> _Sum | None:
    start, end = call.arguments
    return _between(call, end, start, _LENGTHS.get(str(call.option("unit")).upper()))


def _subtract_timestamps(call: Call) -> _Sum | None:
    end, start = call.arguments
    return _between(call, end, start, 1) if pt.is_duration(call.type) else None


def _date_diff(call: Call) -> _Sum | None:
    end, start = map(_value, call.arguments)
    if end is None or start is None:
        return None
    low, high = _range(pa.int32())
    return _Sum((*end.terms, *start.negated.terms), 0, 1, low, high, 0, high)


def _added(call: Call) -> _Sum | None:
    if not pt.is_integer(call.type):
        return None
    a, b = map(_Sum.of, call.arguments)
    if a is None or b is None or a.absolute or b.absolute:
        return None
    made = _minus(a, b if call.function == "subtract" else b.negated)
    if made is None:
        return None
    low, high = _range(call.type)
    if low <= made.low and made.high <= high:
        return made
    if call.function == "add" or not (a.is_plain and b.is_plain):
        return None
    return replace(made, low=low, high=high, reach=high)


def _absolute(call: Call) -> _Sum | None:
    if not (pt.is_integer(call.type) or pt.is_duration(call.type)):
        return None
    inner = _Sum.of(call.arguments[0])
    if inner is None or inner.absolute or inner.constant or len(inner.terms) != 2:
        return None
    low, high = _range(call.type)
    reach = inner.reach
    if reach is None and inner.low <= low:
        if inner.unit != 1:
            return None
        reach = high
    return replace(inner, low=0, high=min(max(-inner.low, inner.high), high), reach=reach, absolute=True)


def _minus(a: _Sum, b: _Sum) -> _Sum | None:
    """a − b, if the values are in one unit, and an overflow of theirs is of the whole difference."""
    if a.terms and b.terms:
        overflows = a.reach is not None or b.reach is not None
        if a.unit != b.unit or overflows or a.absolute or b.absolute:
            return None
    return _Sum(
        (*a.terms, *b.negated.terms),
        a.constant - b.constant,
        a.unit or b.unit,
        a.low - b.high,
        a.high - b.low,
        a.slack + b.slack,
        b.reach if a.reach is None else a.reach,
    )


def _range(data_type: pa.DataType) -> tuple[int, int]:
    half = 1 << (data_type.bit_width - 1)
    return -half, half - 1


_READINGS: dict[str, Callable[[Call], _Sum | None]] = {
    "add": _added,
    "subtract": _added,
    "abs": _absolute,
    "cast": _cast,
    "unix_date": lambda call: _value(call.arguments[0]),
    "timestamp_diff": _timestamp_diff,
    "subtract_timestamps": _subtract_timestamps,
    "date_diff": _date_diff,
    "unix_micros": lambda call: _units(call.arguments[0], 1),
    "unix_millis": lambda call: _units(call.arguments[0], 1000),
    **dict.fromkeys(
        ("unix_seconds", "unix_timestamp", "to_unix_timestamp"),
        lambda call: _units(call.arguments[0], _SECOND),
    ),
}
