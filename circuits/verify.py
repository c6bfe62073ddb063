"""What every legal circuit satisfies as a whole; what a node of it does, its operator says.

`verify(circuit)` asserts, and names the node that breaks a rule. It runs after a circuit is built.
"""

from __future__ import annotations

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.operators.emission.emit import Emit
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.recursion import ITERATION_FIELD, Earliest, FixedPoint, Loop, Recurrence
from dbsp.circuits.operators.streams import Exchange


def verify(circuit: Circuit) -> None:
    """Raise AssertionError at the first node that isn't legal."""
    for i, node in enumerate(circuit.nodes):
        where = f"node {i} {node.operator!r}"
        inputs = [circuit.nodes[j] for j in node.inputs]
        assert all(j < i for j in node.inputs), f"{where}: inputs must come before"
        assert len(node.schema), f"{where}: rows need at least one column"
        above = max((n.level for n in inputs), default=0)
        assert node.level == above + isinstance(node.operator, Exchange), f"{where}: wrong level"
        node.operator.verify(node, inputs, where)
    for loop in circuit.loops:
        _verify_loop(circuit, loop)
    assert not circuit.logs.keys() & circuit.layouts.keys(), "a node keeps a trace or a log, not both"
    for table, source in circuit.sources.items():
        assert isinstance(circuit.nodes[source].operator, Source), f"source of {table} is not a Source"
    _verify_outputs(circuit)


def _verify_outputs(circuit: Circuit) -> None:
    may_retract = circuit.retracting()
    for output in circuit.outputs:
        if output.trace is not None:
            trace = circuit.nodes[output.trace]
            assert trace.operator.is_trace, f"view {output.view}: no trace"
            assert trace.schema == circuit.nodes[output.node].schema, f"view {output.view}: schema"
        elif not output.passed_on:
            assert output.node not in may_retract, f"view {output.view}: rows of its log may be retracted"
        if output.emission is not None:
            emission = circuit.nodes[output.emission]
            assert isinstance(emission.operator, Emit), f"view {output.view}: not emitted by an Emit"
            assert emission.inputs[1] == output.trace, f"view {output.view}: emits another trace"


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
