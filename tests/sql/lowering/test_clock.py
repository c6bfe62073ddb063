"""Conditions on the clock: one trace of what waits a bound, and the clock among the waterlines."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.clock.temporal_filter import Ahead, Difference
from dbsp.circuits.operators.clock.timed_projection import TimedProjection
from dbsp.circuits.operators.linear import Filter
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.clock.changes import Changes, Crossing, TimeBound
from dbsp.sql.plans.clock.readings import NOW
from dbsp.sql.plans.schemas import Field
from tests.sql.hand_made import BOOL, INT, table
from tests.sql.lowering.lowered import circuit_of, inputs_of, nodes_of, operators

TIME = CLOCK.type
S = p.Scan("s", (Field("k", INT), Field("starts", TIME), Field("ends", TIME, nullable=False)))
STARTS, ENDS, READING = Column(1, TIME), Column(2, TIME, False), Column(0, TIME, False)
HOUR = Literal(timedelta(hours=1), pa.duration("us"))


def later(time: Expression) -> Call:
    return Call("timestamp_add_interval", (time, HOUR), TIME, True, (("timeZoneId", "UTC"),))


def bound(value: Expression, leaves: bool) -> TimeBound:
    return TimeBound(value, READING, leaves, at_once=True)


def test_rows_enter_before_they_leave() -> None:
    plan = p.TemporalFilter(S, (bound(ENDS, leaves=True), bound(STARTS, leaves=False)))
    circuit = circuit_of(plan, tables=(table(S),))
    entering, leaving = operators(circuit, Ahead)
    assert (entering.column, leaving.column) == (1, 2)
    (difference,) = nodes_of(circuit, Difference)
    _, ahead = inputs_of(circuit, difference)
    assert ahead == entering
    # a row whose time of entering is NULL never enters
    assert [str(one.condition) for one in operators(circuit, Filter)] == ["is_not_null(#1)"]
    assert CLOCK in circuit.lateness
    assert circuit.nodes[circuit.output("v0").node].schema.names == ["k", "starts", "ends"]


def test_a_computed_time_is_a_column_while_rows_wait() -> None:
    circuit = circuit_of(p.TemporalFilter(S, (bound(later(ENDS), leaves=True),)), tables=(table(S),))
    (waiting,) = nodes_of(circuit, Ahead)
    assert waiting.schema.names == ["k", "starts", "ends", "__at0"]
    assert isinstance(waiting.operator, Ahead)
    assert waiting.operator.column == 3
    assert circuit.nodes[circuit.output("v0").node].schema.names == ["k", "starts", "ends"]


def test_without_a_clock_there_is_none() -> None:
    assert CLOCK not in circuit_of(S, tables=(table(S),)).lateness


def phased(changes: Changes, condition: Expression | None = None) -> p.TimedProjection:
    passed = Call("greater_than", (STARTS, NOW), BOOL)
    return p.TimedProjection(S, changes, (passed,), condition, (*S.schema, Field("passed", BOOL)))


def test_values_of_the_clock_read_the_rows_that_it_passes() -> None:
    crossings = (Crossing(STARTS, READING, True, READING), Crossing(later(ENDS), READING, False, READING))
    circuit = circuit_of(phased(Changes(crossings, (), crossings[1:], False)), tables=(table(S),))
    (node,) = nodes_of(circuit, TimedProjection)
    assert isinstance(node.operator, TimedProjection)
    traces = [one for one in inputs_of(circuit, node) if isinstance(one, Ahead)]
    assert [(trace.column, trace.silent) for trace in traces] == [(1, False), (3, False)]
    assert [crossing.column for crossing in node.operator.crossings] == [1, 3]
    assert node.operator.ahead == (1,)
    # the clock comes after the columns of the rows that wait
    (expression,) = node.operator.values
    assert str(expression) == "greater_than(#1, #4)"
    assert circuit.nodes[circuit.output("v0").node].schema.names == ["k", "starts", "ends", "passed"]


def test_a_reading_that_turns_keeps_rows_silently_and_one_of_all_rows_keeps_them_all() -> None:
    turning = Crossing(STARTS, later(READING), True, READING)
    circuit = circuit_of(phased(Changes((turning,), (READING,), (), False)), tables=(table(S),))
    (trace,) = operators(circuit, Ahead)
    assert (trace.silent, trace.at_once) == (True, False)
    (node,) = nodes_of(circuit, TimedProjection)
    assert any(isinstance(one, Integrate) for one in inputs_of(circuit, node))
