"""Temporal filters: from when and until when a row satisfies conditions on NOW().

    f(row) > g(now)     until g(now) reaches f(row)       f(row) >= g(now)    until g(now) exceeds it
    f(row) <= g(now)    once g(now) has reached f(row)    f(row) < g(now)     once g(now) exceeds it
    f(row) = g(now)     f(row) <= g(now) and f(row) >= g(now)

g never decreases (`circuits/expressions/monotone.py`); f is anything. A difference of times is taken apart
first:

    now − x op c  ⇔  now op x + c            x − now op c  ⇔  x − c op now

Any other expression over NOW() changes with a row, where it does so at moments that can be told: when a
reading of the clock that is compared with a value of the row comes to its other side (`Crossing`), or, of all
rows at once, when a reading that mostly stands still changes.

In a condition NOW() stands as the column CLOCK_COLUMN, in a bound as the only column there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow.types as pt

from dbsp.circuits.columns.order_codes import has_order_bits
from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.circuits.expressions.partial import can_fail
from dbsp.circuits.expressions.predicates import FLIPPED, taken_apart
from dbsp.sql.plans.clock.changes import Changes, Crossing, TimeBound
from dbsp.sql.plans.clock.readings import (
    as_reading,
    has_variable,
    is_of_clock,
    never_below,
    reads_clock,
    stands_still,
    steady,
)

# (of f op g: whether rows leave, whether a row that equals g is passed)
_BOUNDS = {
    "greater_than": ((True, True),),
    "greater_than_or_equal": ((True, False),),
    "less_than_or_equal": ((False, True),),
    "less_than": ((False, False),),
    "equal_to": ((False, True), (True, False)),
    "equal_null_safe": ((False, True), (True, False)),
}
_SHIFTS = {
    *("timestamp_add_interval", "timestamp_add_ym_interval", "date_add_ym_interval", "add_months"),
    *("date_add", "date_sub", "trunc_timestamp", "trunc_date", "hour", "minute", "year", "month"),
}


def time_bounds(condition: Expression) -> tuple[TimeBound, ...] | None:
    """The bounds that all hold where the condition does; None where it isn't of that form."""
    for operator, value, clock in _compared(condition):
        reading = steady(clock)
        if reading is not None:
            return tuple(TimeBound(value, reading, *bound) for bound in _BOUNDS[operator])
    return None


def changes(expressions: Sequence[Expression], one_row: bool = False) -> Changes | None:
    """None where they may change at any moment; which is no matter if there is one row at most."""
    crossings: dict[Crossing, None] = {}
    readings: dict[Expression, bool] = {}

    def found(expression: Expression, whole: bool = False) -> bool:
        if not reads_clock(expression):
            return True
        crossed = _crossings(expression)
        if crossed and (whole or all(_is_safe(crossing.value) for crossing, _ in crossed)):
            crossings.update(dict.fromkeys(crossing for crossing, _ in crossed))
            return True
        if is_of_clock(expression) and (one_row or stands_still(expression)):
            readings[as_reading(expression)] = not stands_still(expression)
            return True
        return isinstance(expression, Call) and all(map(found, expression.arguments))

    if not all(found(expression, whole=True) for expression in expressions):
        return None
    ahead = (crossing for e in expressions for crossing, leaves in _crossings(e) if leaves)
    return Changes(tuple(crossings), tuple(readings), tuple(ahead), any(readings.values()))


def _crossings(condition: Expression) -> list[tuple[Crossing, bool]]:
    """What a comparison of a value with a reading depends on, and whether it's true until then."""
    for operator, value, clock in _compared(condition):
        exact, low = steady(clock), never_below(clock)
        if low is not None or stands_still(clock):
            reading = exact or as_reading(clock)
            bounds = _BOUNDS[operator]
            return [(Crossing(value, reading, at_once, exact or low), leaves) for leaves, at_once in bounds]
    return []


def _compared(condition: Expression) -> Iterator[tuple[str, Expression, Expression]]:
    """(operator, f, g) of f op g, with f a value of a row that has an order and g of the clock."""
    if not isinstance(condition, Call) or condition.function not in _BOUNDS:
        return
    for operator, value, clock in _sides(condition):
        data_type = value.type
        ordered = (has_order_bits(data_type) and not pt.is_boolean(data_type)) or pt.is_decimal(data_type)
        if ordered and is_of_clock(clock) and not reads_clock(value) and not has_variable(value):
            yield operator, value, clock


def _is_safe(value: Expression) -> bool:
    """Whether it can be computed of all rows, though Spark computes it of some: it fails out of range."""
    if not isinstance(value, Call):
        return True
    cast = value.function == "cast" and pt.is_temporal(value.arguments[0].type)
    known = cast or value.function in _SHIFTS or not can_fail(replace(value, arguments=()))
    return known and all(map(_is_safe, value.arguments))


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
