"""Emission as a whole: a trigger and what it lets go read the view's trace, by its key."""

from __future__ import annotations

import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.emission.emit import Emit
from dbsp.circuits.operators.emission.records import Records
from dbsp.circuits.operators.emission.trigger import Trigger
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.plans.nodes import Project
from dbsp.sql.plans.program import Ordered, Schedule, Triggers
from dbsp.sql.plans.schemas import Field, Windows
from tests.sql.hand_made import INT
from tests.sql.lowering.emission.timed import BID, HOUR, MINUTE, TIME, by_hour, emitted
from tests.sql.lowering.lowered import inputs_of, nodes_of, operators

HERE = "p.sql:1:1"
EMISSIONS = (
    Triggers(2, None, False, HERE),
    Triggers(None, MINUTE, True, HERE),
    Schedule(0, 0, 0, None, 1, False, True, HERE),
)


@pytest.mark.parametrize("emission", EMISSIONS, ids=lambda one: type(one).__name__)
def test_what_leaves_is_what_the_trigger_lets_go(emission: Triggers | Schedule) -> None:
    circuit = emitted(by_hour(Windows("end", HOUR)), emission)
    output = circuit.output("v")
    assert output.emission is not None
    emit = circuit.nodes[output.emission]
    assert isinstance(emit.operator, Emit)
    assert emit.operator.key == (0, 1)
    fired, kept = emit.inputs
    assert kept == output.trace
    assert circuit.nodes[kept].operator == Integrate((0, 1))
    trigger = circuit.nodes[fired]
    assert isinstance(trigger.operator, Trigger)
    records, trace, *rest = trigger.inputs
    assert trace == kept
    assert len(rest) >= trigger.operator.agendas
    # records are of the aggregation's input, which the view's key groups
    (counted,) = nodes_of(circuit, Records)
    assert circuit.nodes[counted.inputs[0]].schema.names == ["hour", "k"]
    assert circuit.nodes[records].placement == (0, 1)


def test_a_view_without_a_key_leaves_by_whole_rows() -> None:
    circuit = emitted(BID, EMISSIONS[0])
    (emit,) = operators(circuit, Emit)
    assert emit.key == (0, 1, 2)


def test_what_is_waited_for_is_in_the_key() -> None:
    """A stream in the order of a column that is none of its key: then it is by whole rows."""
    columns = (Column(0, TIME), Column(1, INT), Column(2, INT), Column(0, TIME))
    fields = (Field("hour", TIME), Field("k", INT), Field("n", INT, False), Field("again", TIME))
    plan = Project(by_hour(), columns, fields)
    for by, key in ((Column(0, TIME), (0, 1)), (Column(3, TIME), (0, 1, 2, 3))):
        circuit = emitted(plan, Ordered(None, None, True, HERE, once=True, by=by))
        (node,) = nodes_of(circuit, Emit)
        assert isinstance(node.operator, Emit)
        assert node.operator.key == key
        assert Integrate(key) in inputs_of(circuit, node)
