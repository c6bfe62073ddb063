"""Rolling windows: frames of a RANGE around each row, which bound what a waterline lets go.

With b the bound of new rows' order value t, and frames from l(t) to u(t), both never decreasing:

    a row x changes what a row r sees only if     x.t <= u(r.t), so r.t >= u⁻¹(b)
    a row that is put out has therefore           r.t >= m := min(b, u⁻¹(b))
    and sees no row y but those with              y.t >= l(m)

So rows below min(m, l(m)) are out of reach. Left out or not, in the trace in whole or in part, they and those
that see them come out of the partition the same before and after the step, which puts out no change of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.circuits.expressions.inverse import solved
from dbsp.circuits.expressions.mirror import mirrored
from dbsp.circuits.expressions.monotone import Bound, Bounds, bound_of, least
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.operators.groups.windows.calls import WindowFunction


@dataclass(frozen=True)
class Reach:
    """What rows can still be put out, and which of them can still be seen: by the value of one column.

    column: ~i is of column i mirrored, as it is where the order descends.
    """

    column: int
    changed: Bound
    seen: Bound


def reach(functions: Sequence[WindowFunction], bounds: Bounds) -> Reach | None:
    """None where some function sees more than a range of one column that is bounded in its order."""
    orders = {function.order for function in functions}
    if len(orders) != 1 or len(order := next(iter(orders))) != 1:
        return None
    column = ~order[0].column if order[0].descending else order[0].column
    if column not in bounds:
        return None
    changed = [
        bounds[column],
        *(_changed(function, column, bounds[column]) for function in functions),
    ]
    if any(bound is None for bound in changed):
        return None
    rows = least(*(bound for bound in changed if bound is not None))
    seen = [rows, *(_seen(function, column, rows) for function in functions)]
    if any(bound is None or bound[0].type != bounds[column][0].type for bound in seen):
        return None
    return Reach(column, rows, least(*(bound for bound in seen if bound is not None)))


def _changed(function: WindowFunction, column: int, bound: Bound) -> Bound | None:
    """u⁻¹(b)"""
    upper = function.frame.upper
    if function.frame.rows or upper is None:
        return None
    if isinstance(upper, int):
        return bound  # the row's peers
    found = solved(_in_order(upper, column), bound)
    return found[1] if found is not None and found[0] == column else None


def _seen(function: WindowFunction, column: int, bound: Bound) -> Bound | None:
    """l(m)"""
    lower = function.frame.lower
    if lower is None:
        return None
    return bound if isinstance(lower, int) else bound_of(_in_order(lower, column), {column: bound})


def _in_order(edge: Expression, column: int) -> Expression:
    """The edge of a frame, mirrored as the column is."""
    return edge if column >= 0 else mirrored(edge)
