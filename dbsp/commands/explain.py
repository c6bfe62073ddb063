"""`dbsp explain`: every view's plan, and the circuit that keeps it.

The circuit has one line per operator, inputs before what reads them; a level begins where rows move to the
partition of their key. In brackets: what a delta costs where that isn't linear (`Operator.cost`). What an
operator keeps between steps is said after it. Then comes each waterline's path, which the drawn forms show in
the boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.commands.paths import paths, proofs
from dbsp.commands.shown.drawing import svg
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.shown.explain import explain_view
from dbsp.sql.plans.types import ddl
from dbsp.views.outputs import output_view


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


def explain_program(program: Program, view: str | None, form: str) -> str:
    """view: only what it needs; None: everything. form: 'text', 'mermaid', 'dot' or 'svg'."""
    name = output_view(program, view) if view is not None else None
    shown = list(boxes(program, name))
    if form != "text":
        return _FORMS[form](program, shown)
    views = [explain_view(program, view) for view in program.views if name in (None, view)]
    return "\n".join(
        [*views, f"circuit: {len(shown)} operators\n{_text(program, shown)}", *_paths(program, shown)]
    )


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
    wanted = [o for o in circuit.outputs if view in (None, o.view)]
    found = {i for o in wanted for i in (o.node, o.trace, o.emission) if i is not None}
    if view is None:
        found = set(range(len(circuit.nodes)))
    todo = list(found)
    while todo:
        for i in circuit.nodes[todo.pop()].inputs:
            if i not in found:
                found.add(i)
                todo.append(i)
    return found


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
    if i in circuit.tables:
        return _columns(arrow_schema(program.tables[circuit.tables[i]]))
    node = circuit.nodes[i]
    inputs = (circuit.nodes[j].schema.names for j in node.inputs)
    return node.operator.shown(node.schema.names, *inputs)


def _columns(schema: pa.Schema) -> str:
    columns = [f"{f.name} {ddl(f.type).upper()}{'' if f.nullable else ' NOT NULL'}" for f in schema]
    return f"({', '.join(columns)})"


def _text(program: Program, shown: list[Box]) -> str:
    lines = []
    for box in shown:
        inputs = f"  <- {', '.join(map(str, box.inputs))}" if box.inputs else ""
        cost = f"  [{box.cost}]" if box.cost else ""
        lines.append(
            f"{box.number:4d}  level {box.level}  {f'{box.title}  {box.detail}'.rstrip()}{inputs}{cost}"
        )
        if box.keeps:
            lines.append(f"{'':15}{box.keeps}")
        for view in box.views:
            lines.append(f"{'':15}= view {view} {_columns(arrow_schema(program.views[view]))}")
    return "".join(line + "\n" for line in lines)


def _paths(program: Program, shown: list[Box]) -> Iterator[str]:
    titles = {box.number: f"{box.number} {box.title}" for box in shown}
    for waterline, path in paths(program.circuit, list(titles)):
        passed: dict[str, list[str]] = {}
        for proof in path:
            passed.setdefault(str(proof), []).append(titles[proof.node])
        lines = (f"  {said}: {', '.join(nodes)}\n" for said, nodes in passed.items())
        yield f"waterline {waterline}\n" + "".join(lines)


def _mermaid(program: Program, shown: list[Box]) -> str:
    lines = ["flowchart TD"]
    for box in shown:
        label = "<br/>".join(_escaped(line) for line in lines_of(box))
        lines.append(f'  n{box.number}["{label}"]')
        lines += [f"  n{i} --> n{box.number}" for i in box.inputs]
        for view in box.views:
            lines += [f'  v{box.number}_{len(lines)}(["{_escaped(view)}"])']
            lines += [f"  n{box.number} --> {lines[-1].split('(')[0].strip()}"]
    return "".join(line + "\n" for line in lines)


def _dot(program: Program, shown: list[Box]) -> str:
    lines = ["digraph program {", "  node [shape=box, fontname=monospace];"]
    for box in shown:
        label = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines_of(box))
        lines.append(f'  n{box.number} [label="{label}"];')
        lines += [f"  n{i} -> n{box.number};" for i in box.inputs]
        for view in box.views:
            name = view.replace("\\", "\\\\").replace('"', '\\"')
            lines.append(f'  "view {name}" [shape=ellipse, label="{name}"];')
            lines.append(f'  n{box.number} -> "view {name}";')
    return "".join(line + "\n" for line in [*lines, "}"])


def _svg(program: Program, shown: list[Box]) -> str:
    return svg([(box.number, box.level, box.inputs, lines_of(box), box.views) for box in shown])


def lines_of(box: Box) -> list[str]:
    """A box's text: title, parameters, state, what waterlines prove; each short enough for a drawing."""
    lines = [box.title, box.detail, box.keeps, *box.proved]
    return [line if len(line) <= 60 else line[:57] + "..." for line in lines if line]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


_FORMS: dict[str, Callable[[Program, list[Box]], str]] = {
    "mermaid": _mermaid,
    "dot": _dot,
    "svg": _svg,
}
