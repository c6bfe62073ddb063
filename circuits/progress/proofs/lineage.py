"""Lineage: which column of which table a column of a circuit's node is, value for value."""

from __future__ import annotations

from dbsp.circuits.circuit import Circuit


def origin(circuit: Circuit, node: int, column: int) -> tuple[str, str] | None:
    """(table, column) whose values are all this column can hold, or None where it is made of several."""
    here = circuit.nodes[node]
    if node in circuit.tables:
        return circuit.tables[node], here.schema.names[column]
    source = here.operator.origin(column, *(circuit.nodes[i].schema for i in here.inputs))
    return None if source is None else origin(circuit, here.inputs[source[0]], source[1])
