"""Bands: what a join's condition says of one expression of a side, given a row of the other.

    l.ts >= r.ts AND l.ts <= r.ts + INTERVAL 1 HOUR      l.ts:  within [r.ts, r.ts + 1 h]
                                                         r.ts:  within [l.ts − 1 h, l.ts]

A trace has one order, so one expression of each side is chosen: one that is bounded from both sides, if there
is, as by BETWEEN. Of `r.starts <= l.ts AND l.ts < r.ends` it is both, by the codes of intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow.types as pt

from dbsp.circuits.columns.order_codes import has_order_code
from dbsp.circuits.expressions.inverse import unshifted
from dbsp.circuits.expressions.nodes import Call, Column, Expression, columns_of, remap
from dbsp.circuits.expressions.partial import can_fail
from dbsp.circuits.expressions.predicates import FLIPPED, taken_apart


@dataclass
class ValueBounds:
    """value: over the columns of one side. lower, upper: over those of the other."""

    value: Expression
    lower: list[Expression] = field(default_factory=list)
    upper: list[Expression] = field(default_factory=list)


def value_bounds(parts: Iterable[Expression], width: int, right: bool) -> ValueBounds | None:
    """What the parts of a condition, all of which must be true, bound best of the right or the left side.

    parts: over the left side's `width` columns and then the right's.
    """
    found: dict[Expression, ValueBounds] = {}
    for comparison in (one for part in parts for one in _comparisons(part, width, right)):
        function, own, other = comparison
        value, (bound,) = unshifted(own, (other,))
        if not has_order_code(value.type) or not is_safe(value):
            continue
        bounds = found.setdefault(value, ValueBounds(value))
        (bounds.lower if function.startswith("greater") else bounds.upper).append(bound)
    return max(found.values(), key=lambda w: (bool(w.lower and w.upper), bool(w.lower)), default=None)


@dataclass
class IntervalBounds:
    """start, end: over the columns of one side. least, most: over those of the other, of end and start."""

    start: Expression
    end: Expression
    least: list[Expression]
    most: list[Expression]


def interval_bounds(parts: Iterable[Expression], width: int, right: bool) -> IntervalBounds | None:
    """Two expressions of the right or the left side, one bounded from above and another from below."""
    found: dict[bool, dict[Expression, list[Expression]]] = {False: {}, True: {}}
    for function, own, other in (one for part in parts for one in _comparisons(part, width, right)):
        value, (bound,) = unshifted(own, (other,))
        data_type = value.type
        whole = pt.is_timestamp(data_type) or pt.is_date(data_type) or pt.is_integer(data_type)
        if whole and is_safe(value):
            found[function.startswith("greater")].setdefault(value, []).append(bound)
    pairs = ((a, b) for a in found[False] for b in found[True] if a.type == b.type and a != b)
    start, end = next(pairs, (None, None))
    if start is None or end is None:
        return None
    return IntervalBounds(start, end, found[True][end], found[False][start])


def _comparisons(part: Expression, width: int, right: bool) -> Iterator[tuple[str, Expression, Expression]]:
    """(function, the side's own expression, the other's), each over its own side's columns."""
    if not isinstance(part, Call) or part.function not in FLIPPED:
        return
    for function, own, other in _readings(part):
        sides = [{column >= width for column in columns_of(argument)} for argument in (own, other)]
        if sides == [{right}, {not right}]:
            yield function, moved(own, width), moved(other, width)
        elif sides == [{not right}, {right}]:
            yield FLIPPED[function], moved(other, width), moved(own, width)


def _readings(comparison: Call) -> Iterator[tuple[str, Expression, Expression]]:
    """The comparison, and of one of a difference with a constant that of its two times."""
    function, (a, b) = comparison.function, comparison.arguments
    yield function, a, b
    for operator, difference, amount in ((function, a, b), (FLIPPED[function], b, a)):
        taken = taken_apart(difference, amount)
        if taken is not None:
            minuend, _, later, _ = taken
            yield operator, minuend, later


def moved(expression: Expression, width: int) -> Expression:
    """The expression, which reads one side of a join, over the columns of that side."""
    return remap(expression, {i: i - width if i >= width else i for i in columns_of(expression)})


def is_safe(value: Expression) -> bool:
    """Whether it can be computed of every row of the side: Spark computes it of pairs only."""
    if isinstance(value, Column):
        return True
    if isinstance(value, Call) and value.function == "cast":
        (argument,) = value.arguments
        return _widens(argument, value) and is_safe(argument)
    return not can_fail(value)


def _widens(argument: Expression, cast: Call) -> bool:
    source, target = argument.type, cast.type
    if pt.is_decimal(source) and pt.is_decimal(target):
        more = target.scale - source.scale
        return bool(0 <= more <= target.precision - source.precision)
    if pt.is_integer(source) and pt.is_decimal(target):
        return bool(_DIGITS[source.bit_width] <= target.precision - target.scale)
    if pt.is_integer(source) and pt.is_integer(target):
        return bool(source.bit_width <= target.bit_width)
    return bool((pt.is_integer(source) or pt.is_floating(source)) and pt.is_float64(target))


# of the greatest integer of so many bits
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}
