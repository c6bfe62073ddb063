"""What every legal circuit satisfies, in one place.

`verify(circuit)` asserts, and names the node that breaks a rule. It runs after a circuit is built.
"""

from __future__ import annotations

from dbsp.circuits.circuit import Circuit, Node
from dbsp.circuits.columns.order_codes import has_order_bits
from dbsp.circuits.expressions.nodes import Expression, columns_of
from dbsp.circuits.functions.logic.spans import SPAN_TYPE
from dbsp.circuits.operators.clock.temporal_filter import Ahead, Difference
from dbsp.circuits.operators.clock.timed_projection import Phases
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.emission.emit import Emit
from dbsp.circuits.operators.emission.timers import Agenda
from dbsp.circuits.operators.emission.trigger import Trigger
from dbsp.circuits.operators.generate import Generate
from dbsp.circuits.operators.groups.aggregate import Aggregate
from dbsp.circuits.operators.groups.combine import Combine, CombineParts
from dbsp.circuits.operators.groups.sessions import Sessions
from dbsp.circuits.operators.groups.top import Top, TopOfAppends
from dbsp.circuits.operators.groups.window import Window
from dbsp.circuits.operators.groups.windows.functions import FUNCTIONS
from dbsp.circuits.operators.inputs.arrivals import Remaining
from dbsp.circuits.operators.inputs.defaults import Default, Defaults
from dbsp.circuits.operators.inputs.tables import NonNegative, Upsert
from dbsp.circuits.operators.joins.as_of import AsOf
from dbsp.circuits.operators.joins.join import LEFT, Join
from dbsp.circuits.operators.joins.nearest import BEYOND
from dbsp.circuits.operators.joins.semijoin import SemiJoin
from dbsp.circuits.operators.linear import Filter, FlatMap, Map, Source, Union
from dbsp.circuits.operators.operator import Placement
from dbsp.circuits.operators.recursion import ITERATION_FIELD, Earliest, FixedPoint, Loop, Recurrence
from dbsp.circuits.operators.set_operation import SetOperation
from dbsp.circuits.operators.streams import Current, Exchange, Integrate
from dbsp.circuits.traces.band import Band
from dbsp.circuits.traces.spans import Span

_READS_TRACE = (
    Join,
    AsOf,
    SemiJoin,
    SetOperation,
    Distinct,
    Aggregate,
    NonNegative,
    Current,
    Window,
    Top,
    Earliest,
)
_TRACES = (Integrate, Upsert, Remaining, TopOfAppends)


def verify(circuit: Circuit) -> None:
    """Raise AssertionError at the first node that isn't legal."""
    for i, node in enumerate(circuit.nodes):
        where = f"node {i} {node.operator!r}"
        inputs = [circuit.nodes[j] for j in node.inputs]
        assert all(j < i for j in node.inputs), f"{where}: inputs must come before"
        assert len(node.schema), f"{where}: rows need at least one column"
        above = max((n.level for n in inputs), default=0)
        assert node.level == above + isinstance(node.operator, Exchange), f"{where}: wrong level"
        if isinstance(node.operator, _READS_TRACE):
            readable = all(isinstance(n.operator, _TRACES) for n in inputs)
            assert readable, f"{where}: inputs must be traces"
            assert node.operator.cost != "linear", f"{where}: say what reading the trace costs"
        _verify_types(node, inputs, where)
        _verify_placement(node, inputs, where)
    for loop in circuit.loops:
        _verify_loop(circuit, loop)
    assert not circuit.logs.keys() & circuit.layouts.keys(), "a node keeps a trace or a log, not both"
    for table, source in circuit.sources.items():
        assert isinstance(circuit.nodes[source].operator, Source), f"source of {table} is not a Source"
    for output in circuit.outputs:
        if output.trace is not None:
            trace = circuit.nodes[output.trace]
            assert isinstance(trace.operator, Integrate), f"view {output.view}: no trace"
            assert trace.schema == circuit.nodes[output.node].schema, f"view {output.view}: schema"
        if output.emission is not None:
            emission = circuit.nodes[output.emission]
            assert isinstance(emission.operator, Emit), f"view {output.view}: not emitted by an Emit"
            assert emission.inputs[1] == output.trace, f"view {output.view}: emits another trace"


def _verify_types(node: Node, inputs: list[Node], where: str) -> None:
    operator = node.operator
    if isinstance(operator, Map):
        _verify_projection(operator.expressions, node, inputs[0], where)
    elif isinstance(operator, FlatMap):
        for projection in operator.projections:
            _verify_projection(projection, node, inputs[0], where)
    elif isinstance(operator, Generate):
        _verify_expression(operator.elements, inputs[0], where)
        kept = [inputs[0].schema.field(i).type for i in operator.kept]
        assert kept == node.schema.types[: len(kept)], f"{where}: kept columns' types differ"
    elif isinstance(operator, Filter):
        _verify_expression(operator.condition, inputs[0], where)
        assert operator.condition.type == "bool", f"{where}: condition is not boolean"
    elif isinstance(operator, Defaults | Ahead):
        _verify_clocked(operator, node, inputs[0], where)
    elif isinstance(operator, Phases):
        _verify_phases(operator, inputs, where)
    elif isinstance(operator, Union | SetOperation | Difference):
        for child in inputs:
            assert child.schema.types == node.schema.types, f"{where}: input types differ"
    elif isinstance(operator, AsOf):
        _verify_as_of(operator, inputs, where)
    elif isinstance(operator, Join | SemiJoin):
        _verify_join(operator, node, inputs, where)
    elif isinstance(operator, Window | Sessions | Top | TopOfAppends):
        _verify_partitioned(operator, inputs[0], where)


def _verify_partitioned(operator: Window | Sessions | Top | TopOfAppends, child: Node, where: str) -> None:
    if isinstance(operator, Window):
        _verify_window(operator, child, where)
    elif isinstance(operator, Sessions):
        start, end = (child.schema.field(i).type for i in (operator.start, operator.end))
        assert start == end and has_order_bits(start), f"{where}: sessions from {start} to {end}"
        assert operator.output.types == [*child.schema.types, start, end], f"{where}: output"
    else:
        assert operator.order, f"{where}: nothing to order by"
        assert all(0 <= by.column < len(child.schema) for by in operator.order), f"{where}: no column"


def _verify_clocked(operator: Defaults | Ahead, node: Node, child: Node, where: str) -> None:
    columns = operator.defaults if isinstance(operator, Defaults) else (operator,)
    for one in columns:
        clock = one.value if isinstance(one, Default) else one.clock
        kind = node.schema.field(one.column).type
        assert one.value.type == kind, f"{where}: compares or gives other types"
        if clock is not None:
            assert clock.type == kind, f"{where}: compares or gives other types"
            assert set(columns_of(clock)) <= {0}, f"{where}: reads more than the clock"
    if isinstance(operator, Ahead):
        _verify_expression(operator.value, child, where)


def _verify_phases(operator: Phases, inputs: list[Node], where: str) -> None:
    rows, *traces = inputs
    kinds = [Ahead] * len(operator.crossings) + [Integrate] * bool(operator.readings)
    assert [type(node.operator) for node in traces] == kinds, f"{where}: a timeline a crossing, and all rows"
    for crossing, node in zip(operator.crossings, traces, strict=False):
        assert isinstance(node.operator, Ahead), where
        assert node.operator.column == crossing.column, f"{where}: the timeline of another column"
        turns = node.operator.clock != crossing.clock
        assert crossing.turns == turns == node.operator.silent, f"{where}: drops rows too early"
    for expression in (*(c.clock for c in operator.crossings), *operator.readings):
        assert set(columns_of(expression)) <= {0}, f"{where}: reads more than the clock"
    width = len(rows.schema)
    for value in (*operator.values, *([] if operator.condition is None else [operator.condition])):
        assert set(columns_of(value)) <= {*range(width + 1)}, f"{where}: no column"
    types = [*rows.schema.types, *(value.type for value in operator.values)]
    assert operator.output.types == types, f"{where}: output"


def _verify_window(operator: Window, child: Node, where: str) -> None:
    for call in operator.functions:
        assert call.values or call.function in FUNCTIONS, f"{where}: no function {call.function}"
        read = (*call.arguments, *(by.column for by in call.order))
        assert all(0 <= i < len(child.schema) for i in read), f"{where}: no column"
        for edge in (call.frame.lower, call.frame.upper):
            if isinstance(edge, Expression):
                assert not call.frame.rows and len(call.order) == 1, f"{where}: a RANGE bound needs one order"
                _verify_expression(edge, child, where)


def _verify_join(operator: Join | SemiJoin, node: Node, inputs: list[Node], where: str) -> None:
    left, right = inputs
    if isinstance(operator, SemiJoin):
        keys = operator.left_on, operator.right_on
    else:
        keys = operator.left_key, operator.right_key
    for a, b in zip(*keys, strict=True):
        assert left.schema.field(a).type == right.schema.field(b).type, f"{where}: key types differ"
    if isinstance(operator, SemiJoin):
        return
    for side, column in operator.columns:
        assert column < len((left if side == LEFT else right).schema), f"{where}: no column {column}"
    if operator.residual is not None:
        _verify_expression(operator.residual, node, where)
    for band, own, other in ((operator.left_band, left, right), (operator.right_band, right, left)):
        if band is not None:
            _verify_band(band, own, other, where)


def _verify_as_of(operator: AsOf, inputs: list[Node], where: str) -> None:
    left, right = inputs
    times = ((left, operator.left_time), (right, operator.right_time))
    assert operator.comparison in BEYOND, f"{where}: nothing is nearest by {operator.comparison}"
    for side, time in times:
        ordered = isinstance(side.operator, Integrate) and side.operator.order == time
        assert ordered, f"{where}: a trace that isn't in the order of its time"
    compared = (*operator.left_key, operator.left_time), (*operator.right_key, operator.right_time)
    for a, b in zip(*compared, strict=True):
        assert left.schema.field(a).type == right.schema.field(b).type, f"{where}: types differ"


def _verify_band(band: Band | Span, own: Node, other: Node, where: str) -> None:
    assert isinstance(own.operator, Integrate), f"{where}: a band of no trace of its own"
    assert own.operator.order == band.column, f"{where}: a band of {band.column}, not of the trace's order"
    if isinstance(band, Span):
        assert own.schema.field(band.column).type == SPAN_TYPE, f"{where}: no spans"
        for bound in (*band.least, *band.most):
            _verify_expression(bound, other, where)
        return
    for bound in (*band.lower, *band.upper):
        _verify_expression(bound, other, where)
        assert bound.type == own.schema.field(band.column).type, f"{where}: a bound of another type"


def _verify_projection(expressions: tuple[Expression, ...], node: Node, child: Node, where: str) -> None:
    assert [e.type for e in expressions] == node.schema.types, f"{where}: expression types differ"
    for expression in expressions:
        _verify_expression(expression, child, where)


def _verify_expression(expression: Expression, child: Node, where: str) -> None:
    for column in columns_of(expression):
        assert 0 <= column < len(child.schema), f"{where}: no column {column}"


def _verify_placement(node: Node, inputs: list[Node], where: str) -> None:
    operator = node.operator
    if isinstance(operator, Integrate | Upsert | Remaining):
        expected = node.placement if isinstance(operator, Integrate) else operator.key
        assert inputs[0].placement == expected, f"{where}: rows lie by {inputs[0].placement}"
    elif isinstance(operator, Join | AsOf | SemiJoin | SetOperation):
        _verify_sides(operator, node, inputs, where)
    elif isinstance(operator, Aggregate):
        for child in inputs:
            placement = child.placement
            assert placement is not None and all(i < operator.keys for i in placement), f"{where}: placement"
            assert placement == inputs[0].placement, f"{where}: inputs lie differently"
    elif isinstance(operator, Top | TopOfAppends | Sessions):
        assert inputs[0].placement == operator.partition, f"{where}: rows lie by {inputs[0].placement}"
    elif isinstance(operator, Window):
        placement = inputs[0].placement
        assert placement is not None and set(placement) <= set(operator.partition), f"{where}: placement"
    elif isinstance(operator, Trigger):
        _verify_trigger(operator, node, inputs, where)
    elif isinstance(operator, Ahead):
        assert inputs[0].placement == operator.placed_by, f"{where}: rows lie by {inputs[0].placement}"
    elif isinstance(operator, Difference | Phases):
        assert len({child.placement for child in inputs}) == 1, f"{where}: inputs lie differently"
    elif isinstance(operator, Agenda):
        assert inputs[0].placement == operator.placed_by, f"{where}: keys lie by {inputs[0].placement}"
        assert len(operator.placed_by) <= len(inputs[0].schema), f"{where}: more placed by than keys"
    elif isinstance(operator, Emit):
        fired, view = inputs
        assert isinstance(fired.operator, Trigger), f"{where}: keys must come from a Trigger"
        assert isinstance(view.operator, Integrate), f"{where}: the view must be a trace"
        assert view.placement == operator.key, f"{where}: rows lie by {view.placement}"
        # what fires is the trigger's stream and not its trace, so it can't be sent on
        assert fired.level == node.level, f"{where}: its trigger is on another level"
    elif isinstance(operator, Combine | CombineParts):
        assert operator.keys <= len(inputs[0].schema), f"{where}: too many keys"


def _verify_sides(
    operator: Join | AsOf | SemiJoin | SetOperation, node: Node, inputs: list[Node], where: str
) -> None:
    """Rows that are compared lie in one place."""
    if isinstance(operator, Join | AsOf):
        left, right = inputs
        assert found_by(left) == operator.left_key, f"{where}: left rows lie by {left.placement}"
        assert found_by(right) == operator.right_key, f"{where}: right rows lie by {right.placement}"
        assert left.placement == right.placement or () not in (left.placement, right.placement), (
            f"{where}: one side is gathered"
        )
    elif isinstance(operator, SetOperation):
        everything = tuple(range(len(node.schema)))
        for child in inputs:
            assert child.placement == everything, f"{where}: rows lie by {child.placement}"
    elif isinstance(operator, SemiJoin):
        left, right = inputs
        compared = set(zip(operator.left_on, operator.right_on, strict=True))
        assert left.placement is not None and right.placement is not None, f"{where}: rows lie anywhere"
        assert len(left.placement) == len(right.placement), f"{where}: sides lie by other columns"
        places = set(zip(left.placement, right.placement, strict=True))
        assert places <= compared, f"{where}: rows lie by columns that aren't compared"


def found_by(node: Node) -> Placement:
    """The columns by which rows of a trace are found."""
    operator = node.operator
    return operator.placed_by if isinstance(operator, Integrate) else node.placement


def _verify_loop(circuit: Circuit, loop: Loop) -> None:
    inside = set(loop.body)
    levels = {circuit.nodes[i].level for i in loop.body}
    where = f"loop of nodes {loop.body}"
    assert len(levels) == 1, f"{where}: on several levels"
    for i in loop.body:
        node = circuit.nodes[i]
        operator = node.operator
        ends, begins = isinstance(operator, FixedPoint), isinstance(operator, Recurrence)
        assert ends or node.placement == (), f"{where}: rows of node {i} lie by {node.placement}"
        if begins or isinstance(operator, Earliest):
            assert node.schema.types[-1] == ITERATION_FIELD.type, f"{where}: node {i} has no iteration"
        assert begins or inside & set(node.inputs), f"{where}: node {i} doesn't depend on it"
        assert not begins or i in {recurrence for _, recurrence in loop.feedback}, (
            f"{where}: nothing enters at node {i}"
        )
        assert not isinstance(operator, Exchange), f"{where}: rows move at node {i}"
    for source, recurrence in loop.feedback:
        assert {source, recurrence} <= inside, f"{where}: feedback from outside"
        assert circuit.nodes[source].schema.types == circuit.nodes[recurrence].schema.types, (
            f"{where}: schema"
        )
    for i, node in enumerate(circuit.nodes):
        read = {j for j in inside & set(node.inputs) if not isinstance(circuit.nodes[j].operator, FixedPoint)}
        assert i in inside or not read, f"{where}: node {i} reads the inside"


def _verify_trigger(operator: Trigger, node: Node, inputs: list[Node], where: str) -> None:
    keys, view = inputs[:2]
    assert keys.placement == tuple(range(len(operator.key))), f"{where}: keys lie by {keys.placement}"
    assert isinstance(view.operator, Integrate), f"{where}: the view must be a trace"
    assert view.placement == operator.key, f"{where}: rows lie by {view.placement}"
    for agenda in inputs[2 : 2 + operator.agendas]:
        assert isinstance(agenda.operator, Agenda), f"{where}: an agenda is expected"
    types = [view.schema.field(i).type for i in operator.key]
    assert keys.schema.types[: len(types)] == types, f"{where}: the keys aren't the view's"
