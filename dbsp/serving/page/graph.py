"""A program's circuit as a graph that is ready to be drawn, each operator with what it says of itself."""

from __future__ import annotations

from dbsp.circuits.circuit import Circuit
from dbsp.serving.page.equations import said_of
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.shown.boxes import boxes, ends_of
from dbsp.views.explained.layout import HEIGHT, WIDTH, layout
from dbsp.views.outputs import output_view


def graph(program: Program, view: str | None = None) -> dict[str, object]:
    """Plain values for JSON. view: only what it needs; None: everything. Raises UnknownView."""
    circuit = program.circuit
    shown = list(boxes(program, None if view is None else output_view(program, view)))
    drawn = layout({box.number: box.inputs for box in shown})
    relations = relations_of(program)
    operators = []
    for box in shown:
        node = circuit.nodes[box.number]
        about, equation = said_of(node.operator)
        operators.append(
            {
                "number": box.number,
                "kind": type(node.operator).__name__,
                "name": node.name,
                "detail": box.detail,
                "keeps": box.keeps,
                "cost": box.cost,
                "level": box.level,
                "layer": drawn.layers[box.number],
                "inputs": box.inputs,
                "views": box.views,
                "proved": box.proved,
                "about": about,
                "equation": equation,
                "relation": relations.get(box.number, ""),
                "columns": node.schema.names,
                "at": drawn.places[box.number],
            }
        )
    wires = [
        {"from": wire.start, "to": wire.end, "points": wire.points, "back": wire.back} for wire in drawn.wires
    ]
    return {
        "box": (WIDTH, HEIGHT),
        "size": (drawn.width, drawn.height),
        "operators": operators,
        "wires": wires,
    }


def relations_of(program: Program) -> dict[int, str]:
    """Per node the table or view that it is there for: the first of the text that needs it."""
    circuit = program.circuit
    found: dict[int, str] = {}
    for name in (*program.tables, *program.views):
        for i in circuit.above(_ends(circuit, name)):
            found.setdefault(i, name)
    return found


def _ends(circuit: Circuit, name: str) -> list[int]:
    """The nodes that stand for a relation."""
    ends = [i for i, node in enumerate(circuit.nodes) if node.name == name]
    return ends + (ends_of(circuit, name) if any(output.view == name for output in circuit.outputs) else [])
