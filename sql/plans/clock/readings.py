"""Readings of the clock: what an expression of NOW() alone does as the clock goes on.

    g never decreases         casts, shifts, truncations (`circuits/expressions/monotone.py`)
    g may go back             local times where clocks go back; NOW() shifted by months, since 28 to 31 March
                              less a month are all 28 February: but never below what `never_below` says
    g stands still            a date, an hour: it changes at some minutes' beginnings only

An expression of NOW() is over the column CLOCK_COLUMN, what is returned over the clock as the only column.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.expressions.monotone import bound_of
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, Variable, columns_of, remap
from dbsp.circuits.progress.waterline import CLOCK

CLOCK_COLUMN = -1
NOW = Column(CLOCK_COLUMN, CLOCK.type, False)

_READING = (Column(0, CLOCK.type, False),)
# further than any zone's clocks are from UTC, and than any of them ever went back
_ZONE = timedelta(days=2)
_DAYS = {"YEAR": 366, "QUARTER": 92, "MONTH": 31, "MON": 31, "MM": 31, "WEEK": 7, "DAY": 1, "DD": 1}
_SHORTER = {"HOUR", "MINUTE"}
_LONG_YEARS = {"YYYY", "YY"}
_SUBMINUTE_LETTERS = set("sSnNA")


def ticking(every: int) -> Expression:
    """NOW() of a view whose clock goes on every so many microseconds."""
    return Call("clock_tick", (NOW,), NOW.type, False, (("every", every),))


def reads_clock(expression: Expression) -> bool:
    return CLOCK_COLUMN in columns_of(expression)


def is_of_clock(expression: Expression) -> bool:
    """Whether it reads the clock and nothing else."""
    return set(columns_of(expression)) == {CLOCK_COLUMN} and not has_variable(expression)


def as_reading(expression: Expression) -> Expression:
    """The same over the clock as the only column."""
    return remap(expression, {CLOCK_COLUMN: 0})


def steady(expression: Expression) -> Expression | None:
    """The expression's reading, where that never decreases."""
    exact = bound_of(expression, {CLOCK_COLUMN: _READING})
    return None if exact is None else exact[0]


def never_below(expression: Expression) -> Expression | None:
    """A reading that never decreases, and is below no later one of the expression's; None: not known."""
    exact = steady(expression)
    if exact is not None:
        return exact
    if not isinstance(expression, Call):
        return None
    variable = [i for i, argument in enumerate(expression.arguments) if not isinstance(argument, Literal)]
    if len(variable) != 1:
        return None
    (index,) = variable
    inner = never_below(expression.arguments[index])
    if inner is None:
        return None
    kept = replace(expression, arguments=_with(expression, index, Column(0, inner.type)))
    found = bound_of(kept, {0: (inner,)})
    return found[0] if found is not None else _least_of(expression, index, inner)


def _least_of(call: Call, index: int, inner: Expression) -> Expression | None:
    """What the call never falls below, its argument being no less than `inner`."""
    if inner.type != CLOCK.type:
        return None
    match call.function:
        case "cast" if pt.is_date(call.type) or call.type == pa.timestamp("us"):
            return Call("cast", (_shifted(inner, -_ZONE),), call.type, True, _in_utc(call))
        case "trunc_timestamp":
            (unit,) = (a.value for a in call.arguments if isinstance(a, Literal))
            days = _days_of(str(unit).upper())
            return None if days is None else _shifted(inner, -_ZONE - timedelta(days=days))
        case "timestamp_add_interval" if index == 0:
            added = call.arguments[1]
            if not isinstance(added, Literal) or not isinstance(added.value, timedelta):
                return None  # months, or more of time than the days of the calendar say
            return _shifted(inner, added.value - _ZONE)
        case "timestamp_add_ym_interval" if index == 0:
            months = call.arguments[1]
            assert isinstance(months, Literal) and isinstance(months.value, timedelta)
            # a month is 146,097 / 4,800 days on average; no number of them is a week further from that
            return _shifted(inner, timedelta(days=_number(months.value) * 146_097 // 4_800 - 7) - _ZONE)
    return None


def _days_of(unit: str) -> int | None:
    if unit in _SHORTER:
        return 1
    return _DAYS.get("YEAR" if unit in _LONG_YEARS else unit)


def _number(months: timedelta) -> int:
    """See `circuits/columns/forms/months.py`."""
    return months // timedelta(seconds=1)


def _shifted(time: Expression, by: timedelta) -> Expression:
    """The instant that much later, on the time line."""
    options = (("timeZoneId", "UTC"),)
    return Call("timestamp_add_interval", (time, Literal(by, pa.duration("us"))), time.type, True, options)


def _in_utc(call: Call) -> tuple[tuple[str, object], ...]:
    return tuple(sorted({**dict(call.options), "timeZoneId": "UTC"}.items()))


def _with(call: Call, index: int, argument: Expression) -> tuple[Expression, ...]:
    return (*call.arguments[:index], argument, *call.arguments[index + 1 :])


def stands_still(expression: Expression) -> bool:
    """Whether its value changes at most once within a minute of the clock, or a tick of the view's own.

    It reads nothing but the clock.
    """
    if isinstance(expression, Literal):
        return True
    if not isinstance(expression, Call):
        return False
    arguments = expression.arguments
    match expression.function:
        case "cast" if pt.is_date(expression.type) and pt.is_timestamp(arguments[0].type):
            return True
        case "clock_tick":
            return True
        case "hour" | "minute":
            return True
        case "trunc_timestamp" if isinstance(arguments[0], Literal):
            return _days_of(str(arguments[0].value).upper()) is not None
        case "date_format_class" if isinstance(arguments[1], Literal):
            if not _SUBMINUTE_LETTERS & set(str(arguments[1].value)):
                return True
    return all(map(stands_still, arguments))


def has_variable(expression: Expression) -> bool:
    if isinstance(expression, Call):
        return any(map(has_variable, expression.arguments))
    return isinstance(expression, Variable)
