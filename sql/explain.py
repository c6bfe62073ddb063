"""What a program does, for people: per view its operators with their cost, as text or as a diagram."""

from __future__ import annotations

from collections.abc import Callable

from circuits.circuit import Circuit
from circuits.errors import ProgramError
from sql.keys import Key, view_keys
from sql.plan import Aggregate, Distinct, Join, Plan, Scan
from sql.program import Program, View
from sql.source import did_you_mean
from sql.spelling import spell_columns, spell_node
from sql.verify import inputs

FORMATS = ("text", "mermaid", "dot")


def explain(program: Program, view: str | None = None, format: str = "text") -> str:
    """format: 'text', 'mermaid' or 'dot'. Raises ProgramError for a view that is not there."""
    views = list(program.views.values()) if view is None else [_find(program, view)]
    if format == "text":
        return _text(program, views, whole=view is None)
    if format == "mermaid":
        return _mermaid(views)
    if format == "dot":
        return _dot(views)
    raise ProgramError(
        f"{program.name}: can't draw '{format}'; formats: {', '.join(FORMATS)}; "
        "for SVG, pass the dot format to Graphviz: dot -Tsvg"
    )


def _find(program: Program, name: str) -> View:
    for view in program.views.values():
        if view.name.lower() == name.lower():
            return view
    listed = ", ".join(program.views)
    hint = did_you_mean(name, list(program.views))
    raise ProgramError(f"{program.name}: unknown view '{name}'; views: {listed}{hint}")


def cost(plan: Plan) -> str:
    """What one step costs, by the size of the change."""
    match plan:
        case Join():
            return "lookup of changed keys, two traces"
        case Aggregate():
            return "touched groups"
        case Distinct():
            return "lookup of changed rows, one trace"
        case Scan():
            return ""
        case _:
            return "linear"


# ---- text


def _text(program: Program, views: list[View], whole: bool) -> str:
    keys = view_keys(program)
    lines: list[str] = []
    for view in views:
        kind = {"view": "view", "local": "local view", "materialized": "materialized view"}[view.kind]
        lines.append(f"{kind} {view.name} ({spell_columns(view.schema)})")
        lines.append(f"  stream key: {_spell_key(view, keys[view.name])}")
        lines += _tree(view.plan, "  ")
        lines.append("")
    if whole:
        lines += _circuit(program.circuit)
    return "\n".join(lines).rstrip("\n") + "\n"


def _spell_key(view: View, key: Key) -> str:
    if key is None:
        return "a row id: rows are only added" if view.append_only else "the whole row, counted"
    return ", ".join(view.schema[column].name for column in key) or "none needed: one row at most"


def _tree(plan: Plan, indent: str) -> list[str]:
    price = cost(plan)
    lines = [indent + spell_node(plan) + (f"   [{price}]" if price else "")]
    for input_ in inputs(plan):
        lines += _tree(input_, indent + "  ")
    return lines


def _circuit(circuit: Circuit) -> list[str]:
    lines = [f"circuit: {len(circuit.nodes)} nodes, {circuit.levels} levels"]
    for level in range(circuit.levels):
        lines.append(f"  level {level}")
        for i, node in enumerate(circuit.nodes):
            if node.level == level:
                name = f" {node.name}" if node.name else ""
                read = f" of {', '.join(map(str, node.inputs))}" if node.inputs else ""
                state = "   [trace]" if i in circuit.layouts else ""
                lines.append(f"    {i}: {type(node.operator).__name__}{name}{read}{state}")
    for output in circuit.outputs:
        lines.append(f"  output {output.view}: {output.node}")
    return lines


# ---- diagrams


class _Diagram:
    """Equal sub-plans, of one view or of several, are one node."""

    def __init__(self) -> None:
        self.ids: dict[Plan | str, str] = {}
        self.nodes: list[tuple[str, str, bool]] = []  # id, label, is relation
        self.edges: list[tuple[str, str]] = []

    def view(self, view: View) -> None:
        self._edge(self.add(view.plan), self._relation(view.name))

    def add(self, plan: Plan) -> str:
        if isinstance(plan, Scan):
            return self._relation(plan.relation)
        if plan not in self.ids:
            below = [self.add(input_) for input_ in inputs(plan)]
            self.ids[plan] = self._node(spell_node(plan), relation=False)
            for input_ in below:
                self._edge(input_, self.ids[plan])
        return self.ids[plan]

    def _relation(self, name: str) -> str:
        if name not in self.ids:
            self.ids[name] = self._node(name, relation=True)
        return self.ids[name]

    def _node(self, label: str, relation: bool) -> str:
        self.nodes.append((f"n{len(self.nodes)}", label, relation))
        return self.nodes[-1][0]

    def _edge(self, source: str, target: str) -> None:
        if (source, target) not in self.edges:
            self.edges.append((source, target))


def _diagram(views: list[View]) -> _Diagram:
    diagram = _Diagram()
    for view in views:
        diagram.view(view)
    return diagram


def _mermaid(views: list[View]) -> str:
    diagram = _diagram(views)
    lines = ["flowchart TD"]
    for id_, label, relation in diagram.nodes:
        quoted = '"' + _shortened(label).replace('"', "#quot;") + '"'
        lines.append(f"  {id_}" + (f"[({quoted})]" if relation else f"[{quoted}]"))
    lines += [f"  {source} --> {target}" for source, target in diagram.edges]
    return "\n".join(lines) + "\n"


def _dot(views: list[View]) -> str:
    diagram = _diagram(views)
    escape: Callable[[str], str] = lambda text: text.replace("\\", "\\\\").replace('"', '\\"')  # noqa: E731
    lines = ["digraph program {", "  rankdir=TB; node [shape=box];"]
    for id_, label, relation in diagram.nodes:
        shape = ", shape=cylinder" if relation else ""
        lines.append(f'  {id_} [label="{escape(_shortened(label))}"{shape}];')
    lines += [f"  {source} -> {target};" for source, target in diagram.edges]
    return "\n".join([*lines, "}"]) + "\n"


def _shortened(label: str, width: int = 80) -> str:
    return label if len(label) <= width else label[: width - 1] + "…"
