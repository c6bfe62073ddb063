"""Which columns of a table's delta a circuit reads: only those have to travel to its tasks."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.circuit import Circuit


def read_columns(circuit: Circuit, table: str) -> frozenset[int]:
    """Positions of the table's columns that some operator or view needs."""
    return frozenset(_needed(circuit)[circuit.sources[table]])


def without_unread(batch: pa.RecordBatch, read: frozenset[int]) -> pa.RecordBatch:
    """The batch of a table's columns and its weights, NULL where nobody reads.

    Unchanged where it retracts rows: what is said of a row that can't be retracted names all of it.
    """
    weights = batch.column(batch.num_columns - 1).to_numpy()
    if (weights < 0).any():
        return batch
    columns = [
        column if i in read or i == batch.num_columns - 1 else pa.nulls(len(column), column.type)
        for i, column in enumerate(batch.columns)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _needed(circuit: Circuit) -> list[set[int]]:
    """Per node, the columns of its output that are read, by views or by what reads on from it."""
    needed: list[set[int]] = [set() for _ in circuit.nodes]
    for output in circuit.outputs:
        needed[output.node] = set(range(len(circuit.nodes[output.node].schema)))
    for i in reversed(range(len(circuit.nodes))):
        node = circuit.nodes[i]
        for position, j in enumerate(node.inputs):
            needed[j] |= node.operator.reads(position, needed[i], circuit.nodes[j].schema)
    return needed
