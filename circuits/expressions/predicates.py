"""Comparisons, read in other ways that say the same.

x op y  ⇔  y flipped(op) x
x − y op c  ⇔  x op y + c  ⇔  x − c op y        for times and dates, whose difference is exact
"""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa

from dbsp.circuits.expressions.mirror import mirrored
from dbsp.circuits.expressions.monotone import is_fixed_zone
from dbsp.circuits.expressions.nodes import Call, Expression, Literal

SIGNS = {
    "less_than": "<",
    "less_than_or_equal": "<=",
    "greater_than": ">",
    "greater_than_or_equal": ">=",
}
FLIPPED = {
    "greater_than": "less_than",
    "greater_than_or_equal": "less_than_or_equal",
    "less_than": "greater_than",
    "less_than_or_equal": "greater_than_or_equal",
}


def taken_apart(
    difference: Expression, amount: Expression
) -> tuple[Expression, Expression, Expression, Expression] | None:
    """(x, y, y + amount, x − amount) of x − y; None where the amount can't be moved to the other side."""
    if not isinstance(difference, Call) or len(difference.arguments) != 2:
        return None
    x, y = difference.arguments
    value = amount.value if isinstance(amount, Literal) else None
    if difference.function == "subtract_timestamps" and isinstance(value, timedelta):
        if x.type != y.type:
            return None
        zone = tuple(option for option in difference.options if option[0] == "timeZoneId")
        if x.type.tz is not None and not is_fixed_zone(difference):
            x, y = _local(x, zone), _local(y, zone)  # between which the difference is
        return x, y, _shifted(y, value, zone), _shifted(x, -value, zone)
    if difference.function == "subtract_dates" and isinstance(value, timedelta):
        if value % timedelta(days=1):
            return None
        value = value // timedelta(days=1)
    elif difference.function != "date_diff" or not isinstance(value, int):
        return None
    days = Literal(value, pa.int32())
    add = Call("date_add", (y, days), y.type, True)
    return x, y, add, Call("date_sub", (x, days), x.type, True)


def _local(time: Expression, zone: tuple[tuple[str, object], ...]) -> Expression:
    return Call("cast", (time,), pa.timestamp("us"), time.nullable, (("evalMode", "ANSI"), *zone))


def _shifted(time: Expression, by: timedelta, zone: tuple[tuple[str, object], ...]) -> Expression:
    interval = Literal(by, pa.duration("us"))
    return Call("timestamp_add_interval", (time, interval), time.type, True, zone)


def conjuncts(condition: Expression | None) -> list[Expression]:
    """The parts of a condition that must all be true."""
    if condition is None:
        return []
    if isinstance(condition, Call) and condition.function == "and":
        return [part for argument in condition.arguments for part in conjuncts(argument)]
    return [condition]


def conjunction(parts: list[Expression]) -> Expression | None:
    whole: Expression | None = None
    for part in parts:
        whole = part if whole is None else Call("and", (whole, part), pa.bool_(), True)
    return whole


def comparisons(condition: Expression | None) -> list[tuple[Expression, Expression]]:
    """(a, b) for every conjunct a >= b or a > b of the condition, or that says the same; mirrored, too."""
    pairs = _greater(condition)
    return [*pairs, *((mirrored(b), mirrored(a)) for a, b in pairs)]


def _greater(condition: Expression | None) -> list[tuple[Expression, Expression]]:
    if not isinstance(condition, Call):
        return []
    if condition.function == "and":
        return [pair for argument in condition.arguments for pair in _greater(argument)]
    if condition.function in ("greater_than", "greater_than_or_equal"):
        return [(condition.arguments[0], condition.arguments[1])]
    if condition.function in ("less_than", "less_than_or_equal"):
        return [(condition.arguments[1], condition.arguments[0])]
    if condition.function == "equal_to":
        a, b = condition.arguments
        return [(a, b), (b, a)]
    return []
