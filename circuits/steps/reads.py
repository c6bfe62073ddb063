"""Which columns of a table's delta a circuit reads: only those have to travel to its tasks."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.circuit import Circuit, Node
from dbsp.circuits.expressions.nodes import columns_of
from dbsp.circuits.operators.inputs.arrivals import Arrival
from dbsp.circuits.operators.inputs.defaults import Defaults
from dbsp.circuits.operators.inputs.late import OnTime
from dbsp.circuits.operators.inputs.tables import AppendOnly
from dbsp.circuits.operators.linear import Filter, FlatMap, Map, Negate


def read_columns(circuit: Circuit, table: str) -> frozenset[int]:
    """Positions of the table's columns that some operator or view needs."""
    return frozenset(_read(circuit, circuit.sources[table]))


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


def _read(circuit: Circuit, i: int) -> set[int]:
    """The columns of node i's output that are read."""
    everything = set(range(len(circuit.nodes[i].schema)))
    if any(output.node == i for output in circuit.outputs):
        return everything
    read: set[int] = set()
    for at, node in enumerate(circuit.nodes):
        if i in node.inputs:
            own = _read_by(node)
            passed = _read(circuit, at) if isinstance(node.operator, _PASSING) else set()
            read |= everything if own is None else own | passed
    return read


# what their readers read of their output is a column of their input, at the same position
_PASSING = (Filter, Negate, AppendOnly, Arrival, OnTime, Defaults)


def _read_by(node: Node) -> set[int] | None:
    """The input columns an operator itself looks at; None: all of them."""
    match node.operator:
        case Map(expressions=expressions):
            return {column for e in expressions for column in columns_of(e)}
        case FlatMap(projections=projections):
            return {column for p in projections for e in p for column in columns_of(e)}
        case Filter(condition=condition):
            return set(columns_of(condition))
        case OnTime(lateness=lateness):
            return {one.column for one in lateness}
        case Negate() | AppendOnly() | Arrival() | Defaults():
            return set()
    return None
