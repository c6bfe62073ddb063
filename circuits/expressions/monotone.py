"""Monotone expressions: what a bound on a column says of an expression over it.

    x >= b  ⇒  f(x) >= f(b)          for f that never decreases
    x <= u  ⇒  f(x) >= f(u)          for f that never increases

So the bound of f(x) is f itself, applied to the bound of x. An upper bound u of x is a lower bound of x
mirrored (`mirror.py`), and so is f(x)'s. f is put together from the calls below, each of one argument with
the others constant. Not among them, though tempting: CAST to TIME and EXTRACT(HOUR) (cyclic); casts of a
timestamp to a date or its truncation in a time zone whose clocks may go back across midnight (then a later
instant can have an earlier date); adding months to a timestamp (29 January 23:00 and 30 January 01:00 both go
to 28 February).

A *bound* is a tuple of expressions over the waterlines; its value is the least of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.expressions.mirror import is_mirrored, mirrored
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal

Bound = tuple[Expression, ...]
# of column i at i, of column i mirrored at ~i
Bounds = Mapping[int, Bound]

Turned = Callable[[Expression], Expression]

_UTC = ("UTC", "Z", "GMT", "Etc/UTC", "UCT", "Zulu")
_FIXED_ZONES = (*_UTC, "+", "-", "UTC+", "UTC-", "GMT+", "GMT-")

# never decreasing in their one argument that is no constant, wherever it stands
_ANYWHERE = {"add", "date_add"}
_ARITHMETIC = {"add", "subtract", "multiply", "divide", "unary_minus"}
# never decreasing in their first argument, the others constant
_FIRST = {
    "subtract",
    "date_sub",
    "floor",
    "ceil",
    "round",
    "precise_timestamp_conversion",
    "date_add_ym_interval",
    "known_not_null",
    "known_floating_point_normalized",
    "normalize_na_n_and_zero",
    "trunc_date",
    "clock_tick",
    "unix_seconds",
    "unix_millis",
    "unix_micros",
    "seconds_to_timestamp",
    "millis_to_timestamp",
    "micros_to_timestamp",
    "unix_date",
    "date_from_unix_date",
    "year",
}


def bound_of(expression: Expression, bounds: Bounds) -> Bound | None:
    """The bound of an expression over columns with `bounds`, or None."""
    if isinstance(expression, Column):
        return bounds.get(expression.index)
    if not isinstance(expression, Call):
        return None
    if is_mirrored(expression):
        return _of_mirrored(expression.arguments[0], bounds)
    together = _TOGETHER.get(expression.function)
    if together is not None:
        return together(expression, bounds)
    return _of_call(expression, bounds, _itself)


def _of_mirrored(expression: Expression, bounds: Bounds) -> Bound | None:
    """The bound of the expression mirrored: where there is an upper bound."""
    if isinstance(expression, Column):
        return bounds.get(~expression.index)
    if not isinstance(expression, Call):
        return None
    opposite = _OPPOSITE.get(expression.function)
    if opposite is not None:
        arguments = tuple(map(mirrored, expression.arguments))
        return bound_of(replace(expression, function=opposite, arguments=arguments, text=""), bounds)
    if pt.is_floating(expression.type) and _makes_nan(expression):
        return None
    return _of_call(expression, bounds, mirrored)


def _makes_nan(call: Call) -> bool:
    """Whether it may be NaN, the greatest, of a lesser number, or of NaN, which it would be the least for."""
    numbers = [a.value for a in call.arguments if isinstance(a, Literal) and _is_number(a.type)]
    constants = [float(n) for n in numbers if n is not None]  # type: ignore[arg-type]
    if call.function in _ARITHMETIC and len(constants) < len(call.arguments) - 1:
        return True
    return not all(map(math.isfinite, constants)) or _decreasing_in(call) is not None


def _of_call(call: Call, bounds: Bounds, turned: Turned) -> Bound | None:
    """The bound of a call of one bounded argument, or of a sum. turned: mirrored, for that of its mirror."""
    aligned = floored(call)
    if aligned is not None:
        inner = bound_of(turned(aligned), bounds)
        return None if inner is None else tuple(turned(_replace(call, aligned, turned(b))) for b in inner)
    at = _increasing_in(call)
    if at is not None:
        inner = bound_of(turned(call.arguments[at]), bounds)
        return None if inner is None else tuple(turned(_with_argument(call, at, turned(b))) for b in inner)
    at = _decreasing_in(call)
    if at is not None:
        inner = bound_of(mirrored(turned(call.arguments[at])), bounds)
        if inner is None:
            return None
        return tuple(turned(_with_argument(call, at, mirrored(turned(b)))) for b in inner)
    return _of_sum(call, bounds, turned) if call.function == "add" else None


def _itself(expression: Expression) -> Expression:
    return expression


def _of_all(call: Call, bounds: Bounds) -> Bound | None:
    """Of a value that is one of the arguments: the least of all their bounds.

    Not beside a constant, which would be the least for ever.
    """
    found = [bound_of(argument, bounds) for argument in call.arguments if not _is_null(argument)]
    known = [bound for bound in found if bound is not None]
    return least(*known) if known and len(known) == len(found) else None


def _of_greatest(call: Call, bounds: Bounds) -> Bound | None:
    """The greatest is no less than any argument that is there; one that is NULL doesn't count."""
    for argument in call.arguments:
        bound = bound_of(argument, bounds)
        if bound is not None and not argument.nullable:
            return bound
    return _of_all(call, bounds)


def _of_coalesced(call: Call, bounds: Bounds) -> Bound | None:
    """The first that isn't NULL: none after one that never is."""
    always = (i for i, argument in enumerate(call.arguments) if not argument.nullable)
    last = next(always, len(call.arguments) - 1)
    return _of_all(replace(call, arguments=call.arguments[: last + 1]), bounds)


def _is_null(argument: Expression) -> bool:
    return isinstance(argument, Literal) and argument.value is None


def _of_sum(call: Call, bounds: Bounds, turned: Turned) -> Bound | None:
    """a + b >= the least sum of their bounds."""
    if wraps_around(call) or any(not _is_number(argument.type) for argument in call.arguments):
        return None
    left, right = (bound_of(turned(argument), bounds) for argument in call.arguments)
    if left is None or right is None:
        return None
    return tuple(
        turned(replace(call, arguments=(turned(a), turned(b)), nullable=True)) for a in left for b in right
    )


# f(a, b) mirrored is this of a and b mirrored
_OPPOSITE = {"greatest": "least", "least": "greatest", "coalesce": "coalesce"}
_TOGETHER: dict[str, Callable[[Call, Bounds], Bound | None]] = {
    "greatest": _of_greatest,
    "least": _of_all,
    "coalesce": _of_coalesced,
}


def least(*bounds: Bound) -> Bound:
    """The bound that is the least of all of these."""
    return tuple(dict.fromkeys(expression for bound in bounds for expression in bound))


def _with_argument(call: Call, at: int, argument: Expression) -> Call:
    arguments = (*call.arguments[:at], argument, *call.arguments[at + 1 :])
    return replace(call, arguments=arguments, nullable=True)


def _increasing_in(call: Call) -> int | None:
    """The position of the one argument in which the call never decreases, the others being constants."""
    variable = [i for i, argument in enumerate(call.arguments) if not isinstance(argument, Literal)]
    if len(variable) != 1:
        return None
    (at,) = variable
    name = call.function
    if wraps_around(call):
        return None
    if name in _ANYWHERE or (at == 0 and (name in _FIRST or _FORMS.get(name, _never)(call))):
        return at
    if name == "multiply" and _positive(call.arguments[1 - at]):
        return at
    if name in ("trunc_timestamp", "date_trunc") and at == 1 and is_fixed_zone(call):
        return at
    return None


def _decreasing_in(call: Call) -> int | None:
    """The position of the one argument in which the call never increases, the others being constants."""
    variable = [i for i, argument in enumerate(call.arguments) if not isinstance(argument, Literal)]
    if len(variable) != 1 or not _is_number(call.type) or wraps_around(call):
        return None
    (at,) = variable
    name = call.function
    if name == "unary_minus" or (name == "subtract" and at == 1):
        return at
    return at if name == "multiply" and _negative(call.arguments[1 - at]) else None


def wraps_around(call: Call) -> bool:
    """Whether a result out of range becomes one at the other end: arithmetic without ANSI."""
    is_lenient = call.option("evalMode") == "LEGACY" or call.option("failOnError") is False
    return is_lenient and pt.is_integer(call.type)


def _never(call: Call) -> bool:
    return False


def _adds_duration(call: Call) -> bool:
    return bool(pt.is_duration(call.arguments[1].type)) and is_on_the_time_line(call)


def is_on_the_time_line(call: Call) -> bool:
    """Whether an interval is added to the instant: whole days are added to the calendar of the time zone."""
    (interval,) = (a for a in call.arguments if pt.is_duration(a.type))
    constant = interval.value if isinstance(interval, Literal) else None
    is_short = isinstance(constant, timedelta) and abs(constant) < timedelta(days=1)
    return is_short or not _has_zone(call.type) or is_fixed_zone(call)


def _reads_instant(call: Call) -> bool:
    return _has_zone(call.arguments[0].type)


def _divides(call: Call) -> bool:
    return _positive(call.arguments[1])


def _casts_in_order(call: Call) -> bool:
    """Casts between ordered types that keep the order."""
    source, target = call.arguments[0].type, call.type
    if _is_number(source) and _is_number(target):
        return call.option("evalMode") != "LEGACY"  # which wraps around
    if pt.is_timestamp(source) and (pt.is_date(target) or pt.is_timestamp(target)):
        return (source.tz is None and not _has_zone(target)) or is_fixed_zone(call)
    if pt.is_date(source) and pt.is_timestamp(target):
        return True
    return bool(pt.is_timestamp(source) and pt.is_integer(target) and target.bit_width == 64)


def _has_zone(data_type: pa.DataType) -> bool:
    return bool(pt.is_timestamp(data_type) and data_type.tz is not None)


def _is_number(data_type: pa.DataType) -> bool:
    return bool(pt.is_integer(data_type) or pt.is_floating(data_type) or pt.is_decimal(data_type))


def is_fixed_zone(call: Call) -> bool:
    """Whether the call's time zone never goes back."""
    zone = str(call.option("timeZoneId", "UTC"))
    return zone in _FIXED_ZONES or zone.rstrip("0123456789:") in _FIXED_ZONES


def is_utc(call: Call) -> bool:
    """Whether the call's time zone is that of instants."""
    return str(call.option("timeZoneId", "UTC")) in _UTC


def _positive(expression: Expression) -> bool:
    return isinstance(expression, Literal) and _is_number(expression.type) and (expression.value or 0) > 0  # type: ignore[operator]


def _negative(expression: Expression) -> bool:
    return isinstance(expression, Literal) and _is_number(expression.type) and (expression.value or 0) < 0  # type: ignore[operator]


def floored(call: Call) -> Expression | None:
    """x of `x − pmod(x, n)` or `x − pmod(x − c, n)`: x aligned to its window."""
    if call.function != "subtract" or not isinstance(remainder := call.arguments[1], Call):
        return None
    if remainder.function != "pmod" or not _positive(remainder.arguments[1]):
        return None
    value, shifted = call.arguments[0], remainder.arguments[0]
    if shifted == value:
        return value
    is_shift = isinstance(shifted, Call) and shifted.function in ("subtract", "add")
    if is_shift and shifted.arguments[0] == value and isinstance(shifted.arguments[1], Literal):  # type: ignore[union-attr]
        return value
    return None


def _replace(expression: Expression, old: Expression, new: Expression) -> Expression:
    """The expression with x replaced everywhere."""
    if expression == old:
        return new
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_replace(a, old, new) for a in expression.arguments))
    return expression


_FORMS: dict[str, Callable[[Call], bool]] = {
    "cast": _casts_in_order,
    "timestamp_add_interval": _adds_duration,
    "time_add": _adds_duration,
    "divide": _divides,
    "integral_divide": _divides,
    "unix_timestamp": _reads_instant,
    "to_unix_timestamp": _reads_instant,
}
