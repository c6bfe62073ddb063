"""Solving a comparison: what a bound on an expression says of the column in it.

    f(x) >= b  ⇒  x >= f⁻¹(b)        for f a shift: x + c, x − c, a time plus an interval, a date plus days
    f(x) >= b  ⇒  x >= f(x) >= b     for f that never exceeds its argument: truncated times, starts of windows

    x DIV n >= b  ⇒  x >= n·b, or where b <= 0, which x is rounded up to, n·b − (n − 1)

    f(x) <= u  ⇒  x <= f⁻¹(u)        the same with both sides mirrored; of what f truncates to multiples of n
                                     x <= u + (n − 1)

A shift is solved only where it is exact: not for floating point, whose sums are rounded, nor where a number
out of range becomes another one or NULL. Where f⁻¹(b) can't be computed there is no bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.expressions.mirror import is_mirrored, mirrored
from dbsp.circuits.expressions.monotone import Bound, floored, is_fixed_zone, is_on_the_time_line
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal

_OPPOSITE = {"add": "subtract", "subtract": "add", "date_add": "date_sub", "date_sub": "date_add"}
_SAME = {"known_not_null"}
_LENGTHS = {
    "SECOND": timedelta(seconds=1),
    "MINUTE": timedelta(minutes=1),
    "HOUR": timedelta(hours=1),
    "DAY": timedelta(days=1),
    "WEEK": timedelta(weeks=1),
}
_Undone = Callable[[Call, Bound], tuple[Expression, Bound] | None]


def solved(expression: Expression, bound: Bound) -> tuple[int, Bound] | None:
    """(column, its bound) where `expression >= bound` gives one; ~column: it is of the column mirrored."""
    if is_mirrored(expression):
        inner, upper = _solved(expression.arguments[0], tuple(map(mirrored, bound)), _undone_above)
        return (~inner.index, tuple(map(mirrored, upper))) if isinstance(inner, Column) else None
    inner, lower = _solved(expression, bound, _undone)
    return (inner.index, lower) if isinstance(inner, Column) else None


def _solved(expression: Expression, bound: Bound, undone: _Undone) -> tuple[Expression, Bound]:
    """As far as it can be."""
    while isinstance(expression, Call) and (step := undone(expression, bound)) is not None:
        expression, bound = step
    return expression, bound


def unshifted(expression: Expression, bound: Bound) -> tuple[Expression, Bound]:
    """(x, f⁻¹(bound)) of f(x), f all the shifts around x: f(x) >= bound ⇔ x >= f⁻¹(bound), and so of <=."""
    return _solved(expression, bound, _unshifted)


def _undone(call: Call, bound: Bound) -> tuple[Expression, Bound] | None:
    """(argument, its bound) for the outermost call."""
    value = floored(call)
    if value is not None:
        return value, bound
    if call.function in ("trunc_timestamp", "date_trunc") and is_fixed_zone(call):
        unit, argument = call.arguments[:2]
        if isinstance(unit, Literal) and not isinstance(argument, Literal) and argument.type == call.type:
            return argument, bound
    return _undivided(call, bound, above=False) or _unshifted(call, bound)


def _undone_above(call: Call, bound: Bound) -> tuple[Expression, Bound] | None:
    """The same of an upper bound."""
    value = floored(call)
    if value is not None:
        remainder = call.arguments[1]
        assert isinstance(remainder, Call)
        width = remainder.arguments[1]
        if not (isinstance(width, Literal) and isinstance(width.value, int) and pt.is_integer(call.type)):
            return None
        rest = Literal(width.value - 1, call.type)
        return value, tuple(_exact("add", b, rest) for b in bound)
    if call.function == "trunc_timestamp" and is_fixed_zone(call):
        unit, argument = call.arguments[:2]
        length = _LENGTHS.get(str(unit.value).upper()) if isinstance(unit, Literal) else None
        if length is None or argument.type != call.type:
            return None
        rest = Literal(length - timedelta(microseconds=1), pa.duration("us"))
        zone = tuple(option for option in call.options if option[0] == "timeZoneId")
        return argument, tuple(
            Call("timestamp_add_interval", (b, rest), call.type, True, zone) for b in bound
        )
    return _undivided(call, bound, above=True) or _unshifted(call, bound)


def _undivided(call: Call, bound: Bound, *, above: bool) -> tuple[Expression, Bound] | None:
    """Of x DIV n, which is rounded toward 0. above: the bound is an upper one."""
    if call.function != "integral_divide" or not isinstance(by := call.arguments[1], Literal):
        return None
    value = call.arguments[0]
    if not isinstance(by.value, int) or by.value <= 0 or {value.type, by.type} != {call.type}:
        return None
    zero, rest = Literal(0, call.type), Literal(by.value - 1, call.type)

    def end(quotient: Expression) -> Expression:
        at = _exact("multiply", quotient, by)
        beyond = _exact("add" if above else "subtract", at, rest)
        towards = Call("less_than" if above else "greater_than", (quotient, zero), pa.bool_())
        return Call("if", (towards, at, beyond), call.type)

    return value, tuple(map(end, bound))


def _exact(function: str, a: Expression, b: Expression) -> Call:
    return Call(function, (a, b), a.type, True, (("evalMode", "ANSI"),))


def _unshifted(call: Call, bound: Bound) -> tuple[Expression, Bound] | None:
    """The same of a call that shifts its argument."""
    variable = [i for i, argument in enumerate(call.arguments) if not isinstance(argument, Literal)]
    if len(variable) != 1:
        return None
    (at,) = variable
    argument, name = call.arguments[at], call.function
    if argument.type != call.type:
        return None
    if name in _SAME:
        return argument, bound
    if len(call.arguments) != 2 or (at == 1 and name != "add"):
        return None
    constant = call.arguments[1 - at]
    assert isinstance(constant, Literal)
    if name in ("timestamp_add_interval", "time_add") and isinstance(constant.value, timedelta):
        if not is_on_the_time_line(call):
            return None
        back = Literal(-constant.value, constant.type)
        return argument, tuple(replace(call, arguments=(b, back), nullable=True) for b in bound)
    exact = pt.is_integer(call.type) and call.option("evalMode", "ANSI") == "ANSI"
    if name in _OPPOSITE and constant.value is not None and (exact or pt.is_date(call.type)):
        opposite = replace(call, function=_OPPOSITE[name], nullable=True, text="")
        return argument, tuple(replace(opposite, arguments=(b, constant)) for b in bound)
    return None
