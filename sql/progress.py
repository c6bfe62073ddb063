"""Progress analysis: what waterlines prove about every stream, and so which state is out of reach.

For each node a map from columns to bounds. The meaning of a bound b of column c, by which every transfer
function below is to be judged:

    in every row, inserted or retracted, of every delta from the next step on: c is NULL or c >= b(W)

W are the waterlines after the step; since they never fall and b is monotone, neither does b(W). Bounds only
ever come from an `OnTime` filter, and an operator without a transfer function proves nothing.

From the bounds follows the retention of every trace: each reader says which of its rows it can still look
at; rows that no reader can look at are collected. The contents of views are never collected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from circuits.circuit import Circuit, Node
from circuits.expressions.nodes import Call, Column, Expression, columns_of, remap
from circuits.operator import Operator
from circuits.operators.aggregate import Aggregate
from circuits.operators.combine import Combine, CombineParts
from circuits.operators.distinct import Distinct
from circuits.operators.emit import Emit
from circuits.operators.generate import Generate
from circuits.operators.join import LEFT, RIGHT, Join
from circuits.operators.late import Frozen, OnTime
from circuits.operators.linear import Constant, Filter, FlatMap, Map, Negate, Union
from circuits.operators.semijoin import SemiJoin
from circuits.operators.setoperation import SetOperation
from circuits.operators.streams import Exchange, Integrate
from circuits.operators.tables import AppendOnly, NonNegative, Upsert
from circuits.operators.top import Top, TopOfAppends
from circuits.operators.window import Window
from circuits.retain import Limit, Retention
from sql.inverse import solved
from sql.monotone import Bound, Bounds, bound_of


def with_retentions(circuit: Circuit) -> Circuit:
    """The circuit, with the retention of every trace that can be collected."""
    if not circuit.lateness:
        return circuit
    bounds = all_bounds(circuit)
    traces = (i for i, n in enumerate(circuit.nodes) if isinstance(n.operator, _TRACES))
    retentions = {i: retention for i in traces if (retention := _retention(circuit, bounds, i)) is not None}
    return replace(circuit, retentions=retentions)


def all_bounds(circuit: Circuit) -> list[Bounds]:
    """The bounds of every node's stream."""
    bounds: list[Bounds] = []
    waterlines = {one.name: Column(i, one.type) for i, one in enumerate(circuit.lateness)}
    for node in circuit.nodes:
        inputs = [bounds[i] for i in node.inputs]
        if isinstance(node.operator, OnTime):
            bounds.append(_on_time(node.operator, inputs[0], waterlines))
        elif isinstance(node.operator, Union):
            kinds = [isinstance(circuit.nodes[i].operator, Constant) for i in node.inputs]
            bounds.append(_union([b for b, constant in zip(inputs, kinds, strict=True) if not constant]))
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
    return _union([_projected(projection, inputs[0]) for projection in operator.projections])


def _generate(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Each output row has the kept columns of one input row; elements may be anything."""
    assert isinstance(operator, Generate)
    return {at: inputs[0][i] for at, i in enumerate(operator.kept) if i in inputs[0]}


def _projected(expressions: tuple[Expression, ...], bounds: Bounds) -> Bounds:
    found = {i: bound_of(expression, bounds) for i, expression in enumerate(expressions)}
    return {i: bound for i, bound in found.items() if bound is not None}


def _union(inputs: list[Bounds]) -> Bounds:
    """A row of the output is a row of some input: bounded where all are, by the least."""
    if not inputs:
        return {}
    shared = set.intersection(*(set(bounds) for bounds in inputs))
    return {i: _least(*(bounds[i] for bounds in inputs)) for i in shared}


def _join(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Output rows of a step pair a new row of one side with a row, new or old, of the other.

    A key is equal on both sides, so it is bounded by the least of both sides' bounds, if both have one.
    Another column of the left is bounded in pairs with a new left row by its own bound; in pairs of an old
    left row with a new right row only if the residual says `g(column) >= f(right)` with f(right) bounded and
    g solved for the column (`inverse.py`). Likewise the right.
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
            found[at] = _least(own, other)
    return found


def _set_operation(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """A row of the output is a row of one of this step's deltas: bounded where both are, by the least."""
    return _union(inputs)


def _semijoin(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Output rows of a step are new left rows, or old ones that equal a new right row where compared.

    A column of new left rows has its own bound; an old left row is bounded only by what it is equal in. So
    a compared column is bounded by the least of both sides' bounds, if both have one; no other column is.
    """
    assert isinstance(operator, SemiJoin)
    left, right = inputs
    on = zip(operator.left_on, operator.right_on, strict=True)
    return {mine: _least(left[mine], right[other]) for mine, other in on if mine in left and other in right}


def _combine(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """Group keys are columns of the input; accumulators mix rows of any age."""
    assert isinstance(operator, Combine | CombineParts)
    return {i: bound for i, bound in inputs[0].items() if i < operator.keys}


def _aggregate(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """A group's row changes only when an input has a row of the group: the least of the inputs' bounds."""
    assert isinstance(operator, Aggregate)
    return {i: bound for i, bound in _union(inputs).items() if i < operator.keys}


def _window(operator: Operator, inputs: list[Bounds]) -> Bounds:
    """A delta puts out rows of the partitions it has rows of: of any age, but with its partition's keys."""
    assert isinstance(operator, Window | Top | TopOfAppends)
    return {i: bound for i, bound in inputs[0].items() if i in operator.partition}


TRANSFER: dict[type[Operator], Callable[[Operator, list[Bounds]], Bounds]] = {
    Map: _map,
    FlatMap: _flat_map,
    Generate: _generate,
    Filter: _filter,
    Negate: _same,
    Exchange: _same,
    Integrate: _same,
    Distinct: _same,
    AppendOnly: _same,
    NonNegative: _same,
    # the retraction of a key's old row isn't below a waterline either: such a key is frozen
    Upsert: _same,
    Join: _join,
    SemiJoin: _semijoin,
    SetOperation: _set_operation,
    Combine: _combine,
    CombineParts: _combine,
    Aggregate: _aggregate,
    Window: _window,
    Top: _window,
    TopOfAppends: _window,
}


# -- retention ---------------------------------------------------------------------------------------------


# what looks rows of a trace up
_READERS = (Join, SemiJoin, SetOperation, Distinct, Aggregate, NonNegative, Frozen, Window, Top)
_TRACES = (Integrate, Upsert, TopOfAppends, Emit)


def _retention(circuit: Circuit, bounds: list[Bounds], trace: int) -> Retention | None:
    """The limits of all readers of a trace; None where one of them may look at any row at any time."""
    if any(output.trace == trace for output in circuit.outputs):
        return None
    node = circuit.nodes[trace]
    if isinstance(node.operator, Emit):
        # its own limits are below what has fired: such a key's row is never retracted any more
        return Retention((node.operator.limits,)) if node.operator.limits else None
    readers: list[tuple[Limit, ...]] = []
    if isinstance(node.operator, Upsert):
        readers.append(_upsert_limits(node.operator, bounds[node.inputs[0]]))
    if any(trace in circuit.nodes[i].inputs for i in circuit.loop_of):
        return None  # a recursion may come back to any row
    if isinstance(node.operator, TopOfAppends):
        # a partition's rows are compared with new ones of the partition
        readers.append(_column_limits(bounds[node.inputs[0]], node.operator.partition))
    for reader in circuit.nodes:
        for position, i in enumerate(reader.inputs):
            if i == trace and isinstance(reader.operator, _READERS):
                readers.append(_limits(reader, position, [bounds[j] for j in reader.inputs]))
    if not readers or not all(readers):
        return None
    return Retention(tuple(dict.fromkeys(readers)))


def _limits(reader: Node, position: int, inputs: list[Bounds]) -> tuple[Limit, ...]:
    operator = reader.operator
    if isinstance(operator, Join):
        return _join_limits(operator, position, inputs)
    if isinstance(operator, SemiJoin):
        return _semijoin_limits(operator, position, inputs)
    if isinstance(operator, SetOperation):
        # a row of either input is looked up in both
        return _column_limits(_union(inputs), range(len(reader.schema)))
    if isinstance(operator, Aggregate):
        # any input may touch a group, and then all are looked up
        return _column_limits(_union(inputs), range(operator.keys))
    if isinstance(operator, Window | Top):
        # a partition is listed when a new row has its keys
        return _column_limits(inputs[0], operator.partition)
    return _column_limits(inputs[position], inputs[position])


def _column_limits(bounds: Bounds, columns: Iterable[int]) -> tuple[Limit, ...]:
    """Whole rows or groups are looked up by rows that are themselves bounded."""
    return tuple(Limit(Column(i, bounds[i][0].type), bounds[i]) for i in columns if i in bounds)


def _upsert_limits(operator: Upsert, bounds: Bounds) -> tuple[Limit, ...]:
    """A key's row is looked up by changes of the key, so only bounds on key columns count.

    A bound on another column would forget that the key is frozen, and take its next change for a new row.
    """
    return _column_limits(bounds, operator.key)


def _join_limits(operator: Join, position: int, inputs: list[Bounds]) -> tuple[Limit, ...]:
    """One side's rows are looked up by new rows of the *other* side.

    So by its bounds on the key, and by what the residual then demands of this side's columns.
    """
    own_key = (operator.left_key, operator.right_key)[position]
    other_key = (operator.right_key, operator.left_key)[position]
    other = inputs[1 - position]
    limits = [
        Limit(Column(mine, other[theirs][0].type), other[theirs])
        for mine, theirs in zip(own_key, other_key, strict=True)
        if theirs in other
    ]
    at = {i: column for i, (side, column) in enumerate(operator.columns) if side == position}
    others = {i: other[c] for i, (s, c) in enumerate(operator.columns) if s != position and c in other}
    for greater, lesser in comparisons(operator.residual):
        bound = bound_of(lesser, others)
        if (
            bound is not None
            and set(columns_of(greater)) <= set(at)
            and any(True for _ in columns_of(greater))
        ):
            limits.append(Limit(remap(greater, at), bound))
    return tuple(limits)


def _semijoin_limits(operator: SemiJoin, position: int, inputs: list[Bounds]) -> tuple[Limit, ...]:
    """Left rows are looked up by new right rows; right rows by new rows of either side.

    A new right row asks whether its key was there before, so right rows stay until both sides are past them.
    """
    left, right = inputs
    on = zip(operator.left_on, operator.right_on, strict=True)
    if position == 0:
        known = [(mine, right[other]) for mine, other in on if other in right]
    else:
        known = [(o, _least(left[m], right[o])) for m, o in on if m in left and o in right]
    return tuple(Limit(Column(i, bound[0].type), bound) for i, bound in known)


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


def _least(*bounds: Bound) -> Bound:
    return tuple(dict.fromkeys(expression for bound in bounds for expression in bound))
