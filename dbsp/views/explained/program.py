"""What `dbsp explain` and `Pipeline.explain` say: every view's plan, and the circuit that keeps it.

The circuit has one line per operator, inputs before what reads them; a level begins where rows move to the
partition of their key. In brackets: what a delta costs where that isn't linear (`Operator.cost`). What an
operator keeps between steps is said after it. Then comes each waterline's path, which the drawn forms show in
the boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dbsp.sql.plans.program import Program
from dbsp.sql.plans.shown.boxes import Box, boxes, spell_schema
from dbsp.sql.plans.shown.explain import explain_view
from dbsp.sql.plans.shown.paths import paths
from dbsp.views.explained.drawing import svg
from dbsp.views.outputs import output_view


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
            lines.append(f"{'':15}= view {view} {spell_schema(program.views[view].schema)}")
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
