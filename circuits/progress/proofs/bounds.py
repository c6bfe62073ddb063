"""Progress analysis: what waterlines prove about every stream.

For each node a map from columns to bounds. The meaning of a bound b of column c, by which every transfer
function below is to be judged:

    in every row, inserted or retracted, of every delta from the next step on: c is NULL or c >= b(W)

W are the waterlines after the step; since they never fall and b is monotone, neither does b(W). Bounds only
ever come from an `OnTime` filter, and an operator without a transfer function proves nothing.

From the bounds follows the retention of every trace (`circuits/progress/proofs/retention.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.inverse import solved
from dbsp.circuits.expressions.monotone import Bound, Bounds, bound_of, least
from dbsp.circuits.expressions.nodes import Call, Column, Expression, substitute
from dbsp.circuits.operators.clock.temporal_filter import Ahead, Difference
from dbsp.circuits.operators.clock.timed_projection import Phases
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.generate import Generate
from dbsp.circuits.operators.groups.aggregate import Aggregate
from dbsp.circuits.operators.groups.combine import Combine, CombineParts
from dbsp.circuits.operators.groups.sessions import Sessions
from dbsp.circuits.operators.groups.top import Top, TopOfAppends
from dbsp.circuits.operators.groups.window import Window
from dbsp.circuits.operators.inputs.arrivals import Arrival, Remaining
from dbsp.circuits.operators.inputs.late import OnTime
from dbsp.circuits.operators.inputs.tables import AppendOnly, NonNegative, Upsert
from dbsp.circuits.operators.joins.as_of import AsOf
from dbsp.circuits.operators.joins.join import LEFT, RIGHT, Join
from dbsp.circuits.operators.joins.nearest import wants_greatest
from dbsp.circuits.operators.joins.semijoin import SemiJoin
from dbsp.circuits.operators.linear import Constant, Filter, FlatMap, Map, Negate, Union
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.operators.set_operation import SetOperation
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.progress.proofs.rolling import reach
from dbsp.circuits.progress.waterline import CLOCK


def all_bounds(circuit: Circuit) -> list[Bounds]:
    """The bounds of every node's stream."""
    bounds: list[Bounds] = []
    waterlines = {one.name: Column(i, one.type) for i, one in enumerate(circuit.lateness)}
    for node in circuit.nodes:
        inputs = [bounds[i] for i in node.inputs]
        if isinstance(node.operator, OnTime):
            bounds.append(_on_time(node.operator, inputs[0], waterlines))
        elif isinstance(node.operator, Ahead):
            bounds.append(_ahead(node.operator, waterlines))
        elif isinstance(node.operator, Union):
            kinds = [isinstance(circuit.nodes[i].operator, Constant) for i in node.inputs]
            bounds.append(union([b for b, constant in zip(inputs, kinds, strict=True) if not constant]))
        else:
            transfer = TRANSFER.get(type(node.operator), _nothing)
            bounds.append(transfer(node.operator, inputs))
    return bounds


# -- transfer functions: (operator, bounds of its inputs) → bounds of its output ---------------------------


def _nothing(operator: Operator, inputs: list[Bounds]) -> Bounds:
    return {}


def _same(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Rows of the output are rows of the input (some of them, moved, or with other weights)."""
    return inputs[0]


def _on_time(operator: OnTime, bounds: Bounds, waterlines: dict[str, Column]) -> Bounds:
    """A row below a waterline doesn't pass: that is the filter."""
    own: dict[int, Bound] = {one.column: (waterlines[one.name],) for one in operator.lateness}
    return {**bounds, **own}


def _ahead(operator: Ahead, waterlines: dict[str, Column]) -> Bounds:
    """A row that comes is ahead of the clock, and one that goes was ahead of it as of the step before.

    So its value is at least the clock's reading, and what the value is made of follows; of the other columns
    nothing does, since a row goes at any age.
    """
    if operator.clock is None:
        return {}
    bound: Bound = (substitute(operator.clock, lambda _: waterlines[CLOCK.name]),)
    solution = solved(operator.value, bound)
    return {operator.column: bound, **({} if solution is None else {solution[0]: solution[1]})}


def _phases(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Rows of the output are new rows, rows that a reading comes to the other side of, or all rows.

    The second were in their crossing's timeline as of the step before, so they are bounded as what is put
    into it: least of all inputs. Third, any row may be. But where a crossing is ahead of every visible row,
    all rows of the output were or are in its timeline, whatever brings them.
    """
    assert isinstance(operator, Phases)
    rows, *timelines = inputs
    found = {} if operator.readings else dict(union([rows, *timelines]))
    for i in operator.ahead:
        found.update(timelines[i])
    return found


def _difference(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """A row of the output is one of either delta."""
    return union(inputs)


def _map(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """A column that is a monotone function of a bounded one is bounded by the function of the bound."""
    assert isinstance(operator, Map)
    return _projected(operator.expressions, inputs[0])


def _filter(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Rows that pass satisfy the condition: `g(column) >= f(row)` bounds a column that has no bound yet."""
    assert isinstance(operator, Filter)
    found = dict(inputs[0])
    for greater, lesser in comparisons(operator.condition):
        bound = bound_of(lesser, inputs[0])
        solution = None if bound is None else solved(greater, bound)
        if solution is not None:
            found.setdefault(*solution)
    return found


def _flat_map(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Each output row comes from one of the projections: bounded by the least of theirs."""
    assert isinstance(operator, FlatMap)
    return union([_projected(projection, inputs[0]) for projection in operator.projections])


def _generate(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Each output row has the kept columns of one input row; elements may be anything."""
    assert isinstance(operator, Generate)
    return {at: inputs[0][i] for at, i in enumerate(operator.kept) if i in inputs[0]}


def _projected(expressions: tuple[Expression, ...], bounds: Bounds) -> Bounds:
    found = {i: bound_of(expression, bounds) for i, expression in enumerate(expressions)}
    return {i: bound for i, bound in found.items() if bound is not None}


def union(inputs: list[Bounds]) -> Bounds:
    """A row of the output is a row of some input: bounded where all are, by the least."""
    if not inputs:
        return {}
    shared = set.intersection(*(set(bounds) for bounds in inputs))
    return {i: least(*(bounds[i] for bounds in inputs)) for i in shared}


def _join(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Output rows of a step pair a new row of one side with a row, new or old, of the other.

    A key is equal on both sides, so it is bounded by the least of both sides' bounds, if both have one.
    Another column of the left is bounded in pairs with a new left row by its own bound; in pairs of an old
    left row with a new right row only if the residual says `g(column) >= f(right)` with f(right) bounded and
    g solved for the column (`circuits/expressions/inverse.py`). Likewise the right.
    """
    assert isinstance(operator, Join)
    left, right = inputs
    found: dict[int, Bound] = {}
    keys = {(LEFT, a): (RIGHT, b) for a, b in zip(operator.left_key, operator.right_key, strict=True)}
    keys.update({b: a for a, b in keys.items()})
    sides = (left, right)
    for at, (side, column) in enumerate(operator.columns):
        own = sides[side].get(column)
        partner = keys.get((side, column))
        other = None if partner is None else sides[partner[0]].get(partner[1])
        if other is None:
            other = _residual_bound(operator, side, column, sides)
        if own is not None and other is not None:
            found[at] = least(own, other)
    return found


def _as_of(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Output rows of a step have a new left row, or an old one whose nearest row is another one now.

    Then a new right row has its key: a key is bounded by the least of both sides' bounds, if both have one.
    Where the nearest is sought below, such an old left row isn't before the new right row: so its time is
    bounded as a key is. No other column is: neither side's width is known here, and so not the right columns.
    """
    assert isinstance(operator, AsOf)
    left, right = inputs
    compared = [*zip(operator.left_key, operator.right_key, strict=True)]
    if wants_greatest(operator.comparison):
        compared.append((operator.left_time, operator.right_time))
    return {a: least(left[a], right[b]) for a, b in compared if a in left and b in right}


def _set_operation(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """A row of the output is a row of one of this step's deltas: bounded where both are, by the least."""
    return union(inputs)


def _semijoin(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Output rows of a step are new left rows, or old ones that equal a new right row where compared.

    A column of new left rows has its own bound; an old left row is bounded only by what it is equal in. So
    a compared column is bounded by the least of both sides' bounds, if both have one; no other column is.
    """
    assert isinstance(operator, SemiJoin)
    left, right = inputs
    on = zip(operator.left_on, operator.right_on, strict=True)
    return {mine: least(left[mine], right[other]) for mine, other in on if mine in left and other in right}


def _combine(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Group keys are columns of the input; accumulators mix rows of any age."""
    assert isinstance(operator, Combine | CombineParts)
    return {i: bound for i, bound in inputs[0].items() if i < operator.keys}


def _aggregate(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """A group's row changes only when an input has a row of the group: the least of the inputs' bounds."""
    assert isinstance(operator, Aggregate)
    return {i: bound for i, bound in union(inputs).items() if i < operator.keys}


def _window(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """A delta puts out rows of the partitions it has rows of: of any age, but with its partition's keys.

    Of rolling windows only rows whose frame can hold a new one (`rolling.py`).
    """
    assert isinstance(operator, Window | Top | TopOfAppends)
    found = {i: bound for i, bound in inputs[0].items() if i in operator.partition}
    rolling = reach(operator, inputs[0]) if isinstance(operator, Window) else None
    return found if rolling is None else {rolling.column: rolling.changed, **found}


def _sessions(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Besides the partition's keys, the end of a session that changes: it is no less than a new row's start.

    A session that rows join ends after their start. Where rows leave it and it falls apart, each part but the
    last was connected to a row that left: the part's end is no less than that row's start.
    """
    assert isinstance(operator, Sessions)
    bounds = {i: bound for i, bound in inputs[0].items() if i in operator.partition}
    if operator.start in inputs[0]:
        bounds[len(operator.output) - 1] = inputs[0][operator.start]
    return bounds


TRANSFER: dict[type[Operator], Callable[[Operator, list[Bounds]], Bounds]] = {
    Map: _map,
    FlatMap: _flat_map,
    Generate: _generate,
    Filter: _filter,
    Negate: _same,
    Difference: _difference,
    Phases: _phases,
    Exchange: _same,
    Integrate: _same,
    Distinct: _same,
    AppendOnly: _same,
    NonNegative: _same,
    Arrival: _same,
    # the retracted copy is of the same row
    Remaining: _same,
    # the retraction of a key's old row isn't below a waterline either: such a key is frozen
    Upsert: _same,
    Join: _join,
    AsOf: _as_of,
    SemiJoin: _semijoin,
    SetOperation: _set_operation,
    Combine: _combine,
    CombineParts: _combine,
    Aggregate: _aggregate,
    Window: _window,
    Top: _window,
    TopOfAppends: _window,
    Sessions: _sessions,
}


def _residual_bound(operator: Join, side: int, column: int, sides: tuple[Bounds, Bounds]) -> Bound | None:
    """The bound of a column in pairs with a new row of the other side, from `column >= f(other side)`."""
    other = sides[1 - side]
    others = {i: other[c] for i, (s, c) in enumerate(operator.columns) if s != side and c in other}
    for greater, lesser in comparisons(operator.residual):
        bound = bound_of(lesser, others)
        found = None if bound is None else solved(greater, bound)
        if found is not None and operator.columns[found[0]] == (side, column):
            return found[1]
    return None


def comparisons(condition: Expression | None) -> list[tuple[Expression, Expression]]:
    """(a, b) for every conjunct a >= b or a > b of the condition, or one that says the same."""
    if not isinstance(condition, Call):
        return []
    if condition.function == "and":
        return [pair for argument in condition.arguments for pair in comparisons(argument)]
    if condition.function in ("greater_than", "greater_than_or_equal"):
        return [(condition.arguments[0], condition.arguments[1])]
    if condition.function in ("less_than", "less_than_or_equal"):
        return [(condition.arguments[1], condition.arguments[0])]
    if condition.function == "equal_to":
        a, b = condition.arguments
        return [(a, b), (b, a)]
    return []
