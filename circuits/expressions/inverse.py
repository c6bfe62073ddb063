"""Solving a comparison: what a bound on an expression says of the column in it.

    f(x) >= b  ⇒  x >= f⁻¹(b)        for f a shift: x + c, x − c, a time plus an interval, a date plus days
    f(x) >= b  ⇒  x >= f(x) >= b     for f that never exceeds its argument: truncated times, starts of windows

    f(x) <= u  ⇒  x <= f⁻¹(u)        for shifts alone, with both sides mirrored

A shift is solved only where it is exact: not for floating point, whose sums are rounded, nor where a number
out of range becomes another one or NULL. Where f⁻¹(b) can't be computed there is no bound.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pyarrow.types as pt

from dbsp.circuits.expressions.mirror import is_mirrored, mirrored
from dbsp.circuits.expressions.monotone import Bound, floored, is_fixed_zone, is_on_the_time_line
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal

_OPPOSITE = {"add": "subtract", "subtract": "add", "date_add": "date_sub", "date_sub": "date_add"}
_SAME = {"known_not_null"}


def solved(expression: Expression, bound: Bound) -> tuple[int, Bound] | None:
    """(column, its bound) where `expression >= bound` gives one; ~column: it is of the column mirrored."""
    if is_mirrored(expression):
        inner, upper = unshifted(expression.arguments[0], tuple(map(mirrored, bound)))
        return (~inner.index, tuple(map(mirrored, upper))) if isinstance(inner, Column) else None
    while isinstance(expression, Call):
        step = _undone(expression, bound)
        if step is None:
            return None
        expression, bound = step
    return (expression.index, bound) if isinstance(expression, Column) else None


def unshifted(expression: Expression, bound: Bound) -> tuple[Expression, Bound]:
    """(x, f⁻¹(bound)) of f(x), f all the shifts around x: f(x) >= bound ⇔ x >= f⁻¹(bound), and so of <=."""
    while isinstance(expression, Call) and (step := _unshifted(expression, bound)) is not None:
        expression, bound = step
    return expression, bound


def _undone(call: Call, bound: Bound) -> tuple[Expression, Bound] | None:
    """(argument, its bound) for the outermost call."""
    value = floored(call)
    if value is not None:
        return value, bound
    if call.function in ("trunc_timestamp", "date_trunc") and is_fixed_zone(call):
        unit, argument = call.arguments[:2]
        if isinstance(unit, Literal) and not isinstance(argument, Literal) and argument.type == call.type:
            return argument, bound
    return _unshifted(call, bound)


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
