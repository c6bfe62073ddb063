"""Which rows of each trace no future input can reach, by what waterlines prove
(`circuits/progress/proofs/bounds.py`).

Each reader of a trace says which of its rows it can still look at (`Operator.reach`); rows that no reader can
look at are collected. The contents of views are never collected.
"""

from __future__ import annotations

from dataclasses import replace

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.progress.limits import Retention
from dbsp.circuits.progress.proofs.bounds import all_bounds


def with_retentions(circuit: Circuit) -> Circuit:
    """The circuit, with the retention of every trace that can be collected."""
    if not circuit.lateness:
        return circuit
    bounds = all_bounds(circuit)
    retentions = {i: retention for i in circuit.layouts if (retention := _retention(circuit, bounds, i))}
    return replace(circuit, retentions=retentions)


def _retention(circuit: Circuit, bounds: list[Bounds], trace: int) -> Retention | None:
    """The limits of all readers of a trace; None where one of them may look at any row at any time."""
    if any(output.trace == trace for output in circuit.outputs):
        return None
    if any(trace in circuit.nodes[i].inputs for i in circuit.loop_of):
        return None  # a recursion may come back to any row
    node = circuit.nodes[trace]
    reached = [node.operator.own_reach([bounds[i] for i in node.inputs])]
    for reader in circuit.nodes:
        inputs = [bounds[i] for i in reader.inputs]
        reached += [
            reader.operator.reach(position, inputs) for position, i in enumerate(reader.inputs) if i == trace
        ]
    readers = [limits for limits in reached if limits is not None]
    if not readers or not all(readers):
        return None
    return Retention(tuple(dict.fromkeys(readers)))
