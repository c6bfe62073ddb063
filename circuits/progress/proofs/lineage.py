"""Lineage: which column of which table a column of a circuit's node is made of, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.nodes import Column, Expression, columns_of, substitute


def origin(circuit: Circuit, node: int, column: int) -> tuple[str, str] | None:
    """(table, column) whose values are all this column can hold, or None where it is made of several."""
    here = circuit.nodes[node]
    if node in circuit.tables:
        return circuit.tables[node], here.schema.names[column]
    source = here.operator.origin(column, *(circuit.nodes[i].schema for i in here.inputs))
    return None if source is None else origin(circuit, here.inputs[source[0]], source[1])


def made(circuit: Circuit, node: int, expression: Expression) -> Iterator[Expression]:
    """An expression over a column of the node that has an origin, over that column: one a kind of rows."""
    here, read = circuit.nodes[node], set(columns_of(expression))
    if node in circuit.tables or not read:
        yield expression
        return
    (column,) = read
    source = here.operator.origin(column, *(circuit.nodes[i].schema for i in here.inputs))
    assert source is not None, "a column that is made of several"
    below, at = here.inputs[source[0]], source[1]
    field = circuit.nodes[below].schema.field(at)
    for part in here.operator.computed_by(column) or (Column(at, field.type, field.nullable),):
        yield from made(circuit, below, substitute(expression, _always(part)))


def _always(part: Expression) -> Callable[[Column], Expression]:
    return lambda _: part
