"""What waterlines prove of a stream: a map from columns to bounds.

The meaning of a bound b of column c, by which every operator's `bounds` is to be judged:

    in every row, inserted or retracted, of every delta from the next step on: c is NULL or c >= b(W)

W are the waterlines after the step; since they never fall and b is monotone, neither does b(W). Bounds only
ever come from an `OnTime` filter or the step clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from dbsp.circuits.expressions.monotone import Bounds, bound_of, least
from dbsp.circuits.expressions.nodes import Column, Expression

# per waterline, its column in `limits.waterline_row`
Lines = Mapping[str, Column]
# of a stream that has no row from the next step on; of which anything is true, and no column says it
NO_MORE: Bounds = MappingProxyType({})


def union(inputs: Sequence[Bounds]) -> Bounds:
    """A row of the output is a row of some input: bounded where all are, by the least."""
    inputs = [bounds for bounds in inputs if bounds is not NO_MORE]
    if not inputs:
        return {}
    shared = set.intersection(*(set(bounds) for bounds in inputs))
    return {i: least(*(bounds[i] for bounds in inputs)) for i in shared}


def projected(expressions: Sequence[Expression], bounds: Bounds) -> Bounds:
    """A column that is a monotone function of a bounded one is bounded by the function of the bound."""
    found = {i: bound_of(expression, bounds) for i, expression in enumerate(expressions)}
    return {i: bound for i, bound in found.items() if bound is not None}
