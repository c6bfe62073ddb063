"""A circuit's operators for people: what each is called, is given, keeps and costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbsp.circuits.circuit import Circuit
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.shown.paths import proofs


@dataclass(frozen=True)
class Box:
    """An operator for people. inputs: node numbers. keeps: its state, '' if none. cost: of a
    delta, '' if it is no more than its size.

    proved: by waterlines.
    """

    number: int
    title: str
    detail: str
    keeps: str
    cost: str
    level: int
    inputs: tuple[int, ...]
    views: tuple[str, ...]
    proved: tuple[str, ...] = ()


def boxes(program: Program, view: str | None = None) -> Iterator[Box]:
    """The operators in topological order."""
    circuit = program.circuit
    shown = _needed(circuit, view)
    proved: dict[int, list[str]] = {}
    for proof in proofs(circuit):
        proved.setdefault(proof.node, []).append(str(proof))
    for i in sorted(shown):
        node = circuit.nodes[i]
        views = tuple(o.view for o in circuit.outputs if o.node == i and view in (None, o.view))
        title = type(node.operator).__name__ + (f" {node.name}" if node.name else "")
        yield Box(
            i,
            title,
            detail(program, i),
            keeps(circuit, i),
            node.operator.cost if node.operator.costs_more else "",
            node.level,
            circuit.fed_back.get(i, node.inputs),
            views,
            tuple(proved.get(i, ())),
        )


def _needed(circuit: Circuit, view: str | None) -> set[int]:
    if view is None:
        return set(range(len(circuit.nodes)))
    return circuit.above(ends_of(circuit, view))


def ends_of(circuit: Circuit, view: str) -> list[int]:
    """The nodes whose rows are the view's, or leave for it."""
    output = circuit.output(view)
    return [i for i in (output.node, output.trace, output.emission) if i is not None]


def keeps(circuit: Circuit, i: int) -> str:
    """What the node stores between steps."""
    names = circuit.nodes[i].schema.names
    if i in circuit.layouts:
        layout = circuit.layouts[i]
        stored = layout.schema.names
        by = ", ".join(stored[c] for c in layout.placement)
        return f"keeps {', '.join(stored)}" + (f" by ({by})" if by else "")
    return f"keeps every row: {', '.join(names)}" if i in circuit.logs else ""


def detail(program: Program, i: int) -> str:
    """The operator's parameters, with columns by name."""
    circuit = program.circuit
    node = circuit.nodes[i]
    if i in circuit.tables:
        table = program.tables.get(circuit.tables[i])
        # what sources refuse is in no table
        of_refused = tuple(Field(one.name, one.type, one.nullable) for one in node.schema)
        return spell_schema(of_refused if table is None else table.schema)
    inputs = (circuit.nodes[j].schema.names for j in node.inputs)
    return node.operator.shown(node.schema.names, *inputs)


def spell_schema(schema: Schema) -> str:
    """`(id BIGINT NOT NULL, shop STRING)`."""
    columns = [f"{f.name} {f.type_name}{'' if f.nullable else ' NOT NULL'}" for f in schema]
    return f"({', '.join(columns)})"
