"""Which rows of each trace no future input can reach, by what waterlines prove
(`circuits/progress/proofs/bounds.py`).

Each reader of a trace says which of its rows it can still look at; rows that no reader can look at are
collected. The contents of views are never collected.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dbsp.circuits.circuit import Circuit, Node
from dbsp.circuits.expressions.monotone import Bounds, bound_of, least
from dbsp.circuits.expressions.nodes import Column, columns_of, remap
from dbsp.circuits.operators.clock.timed_projection import Phases
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.emission.emit import Emit
from dbsp.circuits.operators.groups.aggregate import Aggregate
from dbsp.circuits.operators.groups.sessions import Sessions
from dbsp.circuits.operators.groups.top import Top, TopOfAppends
from dbsp.circuits.operators.groups.window import Window
from dbsp.circuits.operators.inputs.arrivals import Remaining
from dbsp.circuits.operators.inputs.late import Frozen
from dbsp.circuits.operators.inputs.tables import NonNegative, Upsert
from dbsp.circuits.operators.joins.as_of import AsOf
from dbsp.circuits.operators.joins.join import LEFT, Join
from dbsp.circuits.operators.joins.nearest import wants_greatest
from dbsp.circuits.operators.joins.semijoin import SemiJoin
from dbsp.circuits.operators.set_operation import SetOperation
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.limits import Limit, Retention
from dbsp.circuits.progress.proofs.bounds import TRANSFER, all_bounds, comparisons, union
from dbsp.circuits.progress.proofs.rolling import reach

# what looks rows of a trace up
_READERS = (Join, AsOf, SemiJoin, SetOperation, Distinct, Aggregate, NonNegative, Frozen, Window, Top, Phases)
_TRACES = (Integrate, Upsert, Remaining, TopOfAppends, Sessions, Emit)


def with_retentions(circuit: Circuit) -> Circuit:
    """The circuit, with the retention of every trace that can be collected."""
    if not circuit.lateness:
        return circuit
    bounds = all_bounds(circuit)
    traces = (i for i, n in enumerate(circuit.nodes) if isinstance(n.operator, _TRACES))
    retentions = {i: retention for i in traces if (retention := _retention(circuit, bounds, i)) is not None}
    return replace(circuit, retentions=retentions)


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
    if isinstance(node.operator, Remaining):
        # copies of a row are looked up by a retraction of the row
        readers.append(_column_limits(bounds[node.inputs[0]], node.operator.key))
    if any(trace in circuit.nodes[i].inputs for i in circuit.loop_of):
        return None  # a recursion may come back to any row
    if isinstance(node.operator, TopOfAppends):
        # a partition's rows are compared with new ones of the partition
        readers.append(_column_limits(bounds[node.inputs[0]], node.operator.partition))
    if isinstance(node.operator, Sessions):
        # of a partition, sessions are compared with new rows that start before they end
        known = TRANSFER[Sessions](node.operator, [bounds[node.inputs[0]]])
        readers.append(_column_limits(known, known))
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
    if isinstance(operator, AsOf):
        return _as_of_limits(operator, position, inputs)
    if isinstance(operator, SemiJoin):
        return _semijoin_limits(operator, position, inputs)
    if isinstance(operator, Phases):
        return ()  # all rows are read when a reading changes
    if isinstance(operator, SetOperation):
        # a row of either input is looked up in both
        return _column_limits(union(inputs), range(len(reader.schema)))
    if isinstance(operator, Aggregate):
        # any input may touch a group, and then all are looked up
        return _column_limits(union(inputs), range(operator.keys))
    if isinstance(operator, Window | Top):
        # a partition is listed when a new row has its keys
        limits = _column_limits(inputs[0], operator.partition)
        rolling = reach(operator, inputs[0]) if isinstance(operator, Window) else None
        if rolling is None:
            return limits
        return (*limits, *_column_limits({rolling.column: rolling.seen}, [rolling.column]))
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
        known = [(o, least(left[m], right[o])) for m, o in on if m in left and o in right]
    return tuple(Limit(Column(i, bound[0].type), bound) for i, bound in known)


def _as_of_limits(operator: AsOf, position: int, inputs: list[Bounds]) -> tuple[Limit, ...]:
    """Left rows are looked up by new right rows of the key, and by time where the nearest is sought below: no
    left row before a right row has it for its nearest.

    Right rows are looked up by new rows of both sides, and by the old left rows that a new right row touches.
    Of those before the least of both bounds only the last can be the nearest to a row after it, or can end
    the rows that are touched; and of an old left row before it the nearest stays what it was.
    """
    left, right = inputs
    keys = [*zip(operator.left_key, operator.right_key, strict=True)]
    if position == LEFT:
        compared = [*keys]
        if wants_greatest(operator.comparison):
            compared.append((operator.left_time, operator.right_time))
        return tuple(Limit(Column(a, right[b][0].type), right[b]) for a, b in compared if b in right)
    both = {b: least(left[a], right[b]) for a, b in keys if a in left and b in right}
    limits = list(_column_limits(both, operator.right_key))
    times = operator.left_time, operator.right_time
    if operator.right_grows and times[0] in left and times[1] in right:
        bound = least(left[times[0]], right[times[1]])
        limits.append(Limit(Column(times[1], bound[0].type), bound, last_of=operator.right_key))
    return tuple(limits)
