"""`dbsp check`: of every operator that keeps state, what bounds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from circuits.circuit import Circuit
from circuits.operators.tables import Upsert
from dbsp.explain import keeps
from dbsp.metrics import label
from sql.program import Program


@dataclass(frozen=True)
class Bound:
    """by: what bounds the operator's state, or what it grows with."""

    operator: str
    keeps: str
    is_bounded: bool
    by: str

    def __str__(self) -> str:
        verdict = "bounded by" if self.is_bounded else "unbounded: grows with"
        return f"{self.operator}: {self.keeps}; {verdict} {self.by}"


def bounds(program: Program) -> Iterator[Bound]:
    """In the circuit's order."""
    circuit = program.circuit
    for i in sorted({*circuit.layouts, *circuit.logs}):
        by, bounded = _bound(program, circuit, i)
        yield Bound(label(circuit, i), keeps(circuit, i), bounded, by)


def _bound(program: Program, circuit: Circuit, i: int) -> tuple[str, bool]:
    node = circuit.nodes[i]
    if isinstance(node.operator, Upsert):
        key = ", ".join(program.tables[node.name].primary_key)
        return f"the primary key ({key}) of {node.name}", True
    tables = ", ".join(sorted(_tables(circuit, i)))
    if not tables:
        return "a constant", True
    layout = circuit.layouts.get(i)
    if layout is None:
        return f"every row that {tables} gets", False
    if not layout.identity:
        return "one row", True
    names = ", ".join(layout.schema.names[c] for c in layout.identity)
    return f"the distinct values of ({names}) from {tables}", False


def _tables(circuit: Circuit, i: int) -> set[str]:
    """The tables whose rows reach a node."""
    found: set[str] = set()
    todo = [i]
    while todo:
        at = todo.pop()
        found |= {table for table, source in circuit.sources.items() if source == at}
        todo += circuit.nodes[at].inputs
    return found
