"""Progress analysis: what waterlines prove about every stream of a circuit (`circuits/progress/bounds.py`).

Each operator says what passes through it (`Operator.bounds`). From the bounds follows the retention of every
trace (`circuits/progress/proofs/retention.py`).
"""

from __future__ import annotations

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Column


def all_bounds(circuit: Circuit) -> list[Bounds]:
    """The bounds of every node's stream."""
    bounds: list[Bounds] = []
    waterlines = {one.name: Column(i, one.type) for i, one in enumerate(circuit.lateness)}
    for node in circuit.nodes:
        bounds.append(node.operator.bounds([bounds[i] for i in node.inputs], waterlines))
    return bounds
