"""What waterlines prove of a stream: a map from columns to bounds.

The meaning of a bound b of column c, by which every operator's `bounds` is to be judged:

    in every row, inserted or retracted, of every delta from the next step on: c is NULL or c >= b(W)

At ~i it is of column i mirrored (`circuits/expressions/mirror.py`), so that it bounds the column from above.
W are the waterlines after the step; since they never fall and b is monotone, neither does b(W). Bounds only
ever come from an `OnTime` filter or the step clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from dbsp.circuits.expressions.inverse import solved
from dbsp.circuits.expressions.mirror import both, column_of, mirrored, taken
from dbsp.circuits.expressions.monotone import Bound, Bounds, bound_of, least
from dbsp.circuits.expressions.nodes import Column, Expression, Literal

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
    found |= {~i: bound_of(mirrored(expression), bounds) for i, expression in enumerate(expressions)}
    return {i: bound for i, bound in found.items() if bound is not None}


def expanded(projections: Sequence[Sequence[Expression]], bounds: Bounds) -> Bounds:
    """A row of the output is made by one of the projections: bounded by the least of theirs.

    NULL is within any bound. So each of GROUPING SETS may have a bounded column of its own, which is NULL in
    the others; where a set has none, its rows may be of any time, and only what all have counts.
    """
    made = [projected(projection, bounds) for projection in projections]
    if not all(made):
        return union(made)
    columns = range(len(projections[0]))
    found = {i: [one[i] for one in made if i in one] for i in both(columns)}
    null = [sum(is_null(projection[i]) for projection in projections) for i in columns]
    known = {i: these for i, these in found.items() if these and len(these) + null[column_of(i)] == len(made)}
    return {i: least(*these) for i, these in known.items()}


def of_groups(keys: Sequence[Expression], bounds: Bounds) -> Bounds:
    """Rows of groups that new rows are in: of any age, but with their keys.

    A row of an hour that isn't closed is no older than the hour's start. keys: over the row's columns.
    """
    sides = (side for key in keys for side in (key, mirrored(key)))
    made = (solved(side, bound) for side in sides if (bound := bound_of(side, bounds)) is not None)
    return dict(solution for solution in made if solution is not None)


def of_partition(partition: Sequence[int], made: Sequence[Expression], bounds: Bounds) -> Bounds:
    """The same, where keys are columns. made: what these hold over the other columns, where it is known."""
    return {**of_groups(made, bounds), **of_columns_alone(bounds, partition)}


def of_columns_alone(bounds: Bounds, columns: Iterable[int]) -> Bounds:
    """What is known of these columns."""
    return taken(bounds, ((i, i) for i in columns))


def bounded_together(
    left: Bounds, right: Bounds, pairs: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int, Bound]]:
    """(left column, right column, the least of both bounds) where both are known. pairs: of equal columns."""
    for a, b in pairs:
        for here, there in ((a, b), (~a, ~b)):
            if here in left and there in right:
                yield here, there, least(left[here], right[there])


def alternate(projections: Sequence[Sequence[Expression]], bounds: Bounds) -> bool:
    """Whether some bounded column is NULL in other projections, so that another one has to tell there."""
    return any(
        any(is_null(projection[column_of(i)]) for projection in projections)
        for i in expanded(projections, bounds)
    )


def is_null(expression: Expression) -> bool:
    """Whether it is the constant NULL."""
    return isinstance(expression, Literal) and expression.value is None
