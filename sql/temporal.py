"""Temporal filters: from when and until when a row satisfies conditions on NOW().

    f(row) > g(now)     until g(now) reaches f(row)       f(row) >= g(now)    until g(now) exceeds it
    f(row) <= g(now)    once g(now) has reached f(row)    f(row) < g(now)     once g(now) exceeds it
    f(row) = g(now)     f(row) <= g(now) and f(row) >= g(now)

g never decreases (`monotone.py`); f is anything. A difference of times is taken apart first:

    now − x op c  ⇔  now op x + c            x − now op c  ⇔  x − c op now

In a condition NOW() stands as the column CLOCK_COLUMN, in a bound as the only column there is.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.types as pt

from circuits.expressions.nodes import Call, Column, Expression, columns_of
from circuits.ordering import has_order_bits
from circuits.waterline import CLOCK
from sql.comparisons import FLIPPED, taken_apart
from sql.monotone import bound_of
from sql.plan import TimeBound

CLOCK_COLUMN = -1
NOW = Column(CLOCK_COLUMN, CLOCK.type, False)
_READING = (Column(0, CLOCK.type, False),)

# (of f op g: whether rows leave, whether a row that equals g is passed)
_BOUNDS = {
    "greater_than": ((True, True),),
    "greater_than_or_equal": ((True, False),),
    "less_than_or_equal": ((False, True),),
    "less_than": ((False, False),),
    "equal_to": ((False, True), (True, False)),
    "equal_null_safe": ((False, True), (True, False)),
}


def reads_clock(expression: Expression) -> bool:
    return CLOCK_COLUMN in columns_of(expression)


def time_bounds(condition: Expression) -> tuple[TimeBound, ...] | None:
    """The bounds that all hold where the condition does; None where it isn't of that form."""
    if not isinstance(condition, Call) or condition.function not in _BOUNDS:
        return None
    for operator, value, clock in _sides(condition):
        reading = bound_of(clock, {CLOCK_COLUMN: _READING})
        kind = value.type
        if reading is None or reads_clock(value) or not (has_order_bits(kind) or pt.is_decimal(kind)):
            continue
        return tuple(TimeBound(value, reading[0], *bound) for bound in _BOUNDS[operator])
    return None


def _sides(condition: Call) -> Iterator[tuple[str, Expression, Expression]]:
    """(operator, f, g) of f op g, in each way that the comparison can be read."""
    a, b = condition.arguments
    flipped = FLIPPED.get(condition.function, condition.function)
    yield condition.function, a, b
    yield flipped, b, a
    for operator, difference, amount in ((condition.function, a, b), (flipped, b, a)):
        taken = taken_apart(difference, amount)
        if taken is not None:
            minuend, subtrahend, add, subtract = taken
            if reads_clock(minuend):
                yield FLIPPED.get(operator, operator), add, minuend
            else:
                yield operator, subtract, subtrahend
