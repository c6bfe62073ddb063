"""Bands: what a join's condition says of one expression of a side, given a row of the other.

    l.ts >= r.ts AND l.ts <= r.ts + INTERVAL 1 HOUR      l.ts:  within [r.ts, r.ts + 1 h]
                                                         r.ts:  within [l.ts − 1 h, l.ts]

    b.id − a.id BETWEEN 1 AND 20                         b.id:  within [a.id + 1, a.id + 20]

A trace has one order, so one expression of each side is chosen: one that is bounded from both sides, if there
is, as by BETWEEN. Of `r.starts <= l.ts AND l.ts < r.ends` it is both, by the codes of intervals.

By differences (`sql/plans/expressions/differences.py`) a step fails where it would without bounds:

- Pairs so far apart that the difference overflows are met, too.
- What comes before in the condition is computed of pairs beyond the bounds. So it must not fail.
- What comes after is not: there the condition is false, or NULL where a value is. Of NULL what comes after is
  computed, so it must not fail. But rows of inner and semi-joins with a NULL there Spark leaves out before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.order_codes import has_order_code
from dbsp.circuits.expressions.inverse import unshifted
from dbsp.circuits.expressions.nodes import Call, Expression, Literal, columns_of, remap
from dbsp.circuits.expressions.partial import can_fail
from dbsp.circuits.expressions.predicates import FLIPPED, taken_apart
from dbsp.sql.plans.expressions.differences import difference
from dbsp.sql.plans.expressions.safe import is_safe

_FARTHEST = (1 << 63) - 1


@dataclass
class ValueBounds:
    """value: over the columns of one side. lower, upper: over those of the other.

    under, over: what the value may also be below, or above, because the condition may fail there; of NULL
    nothing is. never_null: a row with NULL there is in no pair, and no step fails of it.
    """

    value: Expression
    lower: list[Expression] = field(default_factory=list)
    upper: list[Expression] = field(default_factory=list)
    under: list[Expression] = field(default_factory=list)
    over: list[Expression] = field(default_factory=list)
    never_null: bool = False


def value_bounds(parts: Iterable[Expression], width: int, right: bool, nulls: bool) -> ValueBounds | None:
    """What the parts of a condition, all of which must be true, bound best of the right or the left side.

    parts: over the left side's `width` columns and then the right's. nulls: whether Spark looks at rows with
    NULL in what is compared.
    """
    found: dict[Expression, ValueBounds] = {}
    others, parts = [], list(parts)
    for at, part in enumerate(parts):
        plain = False
        for function, own, other in _comparisons(part, width, right):
            value, (bound,) = unshifted(own, (other,))
            if not has_order_code(value.type) or not is_safe(value):
                continue
            plain = True
            bounds = found.setdefault(value, ValueBounds(value))
            (bounds.lower if function.startswith("greater") else bounds.upper).append(bound)
        apart = None if plain else _apart(part, width, right)
        if apart is not None:
            others.append((at, apart))
    for value in dict.fromkeys(apart.own for _, apart in others):
        of_value = {at: apart for at, apart in others if apart.own == value}
        for apart in _exact(of_value, parts, nulls):
            apart.bound(found.setdefault(value, ValueBounds(value)))
    return max(found.values(), key=lambda w: (bool(w.lower and w.upper), bool(w.lower)), default=None)


@dataclass(frozen=True)
class _Apart:
    """least <= own − other <= most of a side's own value and the other's, as `Difference` has it."""

    own: Expression
    other: Expression
    least: int | None
    most: int | None
    reach: int | None

    def bound(self, bounds: ValueBounds) -> None:
        """A bound that is too far for 64 bits is none, or is nearer and still one."""
        bounds.never_null = True
        if self.least is not None and self.least >= -_FARTHEST:
            bounds.lower.append(self._beside(self.least))
        if self.most is not None and self.most <= _FARTHEST:
            bounds.upper.append(self._beside(self.most))
        if self.reach is not None:
            ends = self._beside(-self.reach, "below"), self._beside(self.reach, "above")
            for listed, end in zip((bounds.under, bounds.over), ends, strict=True):
                if end not in listed:
                    listed.append(end)

    def _beside(self, distance: int, null: str = "") -> Expression:
        """The value at that distance of the other one."""
        by = Literal(max(-_FARTHEST, min(distance, _FARTHEST)), pa.int64())
        options = (("null", null),) if null else ()
        return Call("saturated_sum", (self.other, by), self.own.type, True, options)


def _apart(part: Expression, width: int, right: bool) -> _Apart | None:
    found = difference(part)
    if found is None:
        return None
    values = found.minuend, found.subtrahend
    sides = [{column >= width for column in columns_of(value)} for value in values]
    x, y = (moved(value, width) for value in values)
    if sides == [{right}, {not right}]:
        return _Apart(x, y, found.least, found.most, found.reach)
    if sides == [{not right}, {right}]:
        least, most = (None if end is None else -end for end in (found.most, found.least))
        return _Apart(y, x, least, most, found.reach)
    return None


def _exact(of_value: dict[int, _Apart], parts: Sequence[Expression], nulls: bool) -> list[_Apart]:
    """Those by which a step fails where it would without them."""
    failing = [at for at, part in enumerate(parts) if at not in of_value and _can_fail(part)]
    if failing and nulls and any(one.own.nullable or one.other.nullable for one in of_value.values()):
        return []
    return [apart for at, apart in of_value.items() if not failing or at < failing[0]]


def _can_fail(part: Expression) -> bool:
    if not can_fail(part):
        return False
    found = difference(part)
    return found is None or found.reach is not None


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
    for operator, taken_from, amount in ((function, a, b), (FLIPPED[function], b, a)):
        taken = taken_apart(taken_from, amount)
        if taken is not None:
            minuend, _, later, _ = taken
            yield operator, minuend, later


def moved(expression: Expression, width: int) -> Expression:
    """The expression, which reads one side of a join, over the columns of that side."""
    return remap(expression, {i: i - width if i >= width else i for i in columns_of(expression)})
