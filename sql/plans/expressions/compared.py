"""A condition that is one comparison of the sides: that it is true of some right row is said by the least or
the greatest right value alone.

    ∃v: u < v  ⇔  u < max v        ∃v: u > v  ⇔  u > min v        ∃v: u <> v  ⇔  u <> min v ∨ u <> max v
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dbsp.circuits.columns.order_codes import has_order_code
from dbsp.circuits.expressions.nodes import Call, Column, Expression, columns_of
from dbsp.circuits.expressions.predicates import FLIPPED
from dbsp.sql.plans.expressions.bands import moved
from dbsp.sql.plans.expressions.safe import is_safe

# joins of which only counts whether a left row has a match
ONE_SIDED = ("semi", "anti", "existence")


@dataclass(frozen=True)
class Compared:
    """left, right: over the columns of their own side. residual: the comparison of Column(0), the left value,
    with Column(1). least, greatest: which of the right values it is to be true of.
    """

    left: Expression
    right: Expression
    residual: Expression
    least: bool
    greatest: bool


def compared(kind: str, parts: Sequence[Expression], width: int) -> Compared | None:
    """What a join of that kind compares; None: more than that, or what has no order.

    parts: of its condition, those that read both sides, over the left side's `width` columns and then the
    right's.
    """
    if kind not in ONE_SIDED or len(parts) != 1:
        return None
    whole = call = parts[0]
    if isinstance(whole, Call) and whole.function == "not":
        call = whole.arguments[0]
    if not (isinstance(whole, Call) and isinstance(call, Call)):
        return None
    if call.function not in (FLIPPED if call is whole else ("equal_to",)):
        return None
    sides = [{column >= width for column in columns_of(argument)} for argument in call.arguments]
    if sides not in ([{False}, {True}], [{True}, {False}]):
        return None
    of_right = sides.index({True})
    left, right = (moved(call.arguments[i], width) for i in (1 - of_right, of_right))
    if not (has_order_code(right.type) and is_safe(left) and is_safe(right)):
        return None
    columns = (Column(0, left.type, left.nullable), Column(1, right.type, right.nullable))
    residual: Expression = replace(call, arguments=columns if of_right else columns[::-1])
    if call is not whole:
        return Compared(left, right, replace(whole, arguments=(residual,)), True, True)
    function = call.function if of_right else FLIPPED[call.function]
    greatest = function.startswith("less")
    return Compared(left, right, residual, not greatest, greatest)
