"""A view's plan for people: its operators with what a step costs, and the key that tells its rows apart."""

from __future__ import annotations

from sql.keys import Key, view_keys
from sql.plan import Aggregate, Distinct, Join, Levels, Plan, Scan, Top, Window
from sql.program import Program, View
from sql.spelling import spell_columns, spell_node
from sql.verify import inputs

_KINDS = {"view": "view", "local": "local view", "materialized": "materialized view"}


def explain_view(program: Program, name: str) -> str:
    """Several lines; an operator stands above its inputs."""
    view = program.views[name]
    lines = [
        f"{_KINDS[view.kind]} {view.name} ({spell_columns(view.schema)})",
        f"  stream key: {spell_key(view, view_keys(program)[name])}",
        *_tree(view.plan, "  "),
    ]
    return "".join(f"{line}\n" for line in lines)


def spell_key(view: View, key: Key) -> str:
    """key: as `view_keys` has it."""
    if key is None:
        return "a row id: rows are only added" if view.append_only else "the whole row, counted"
    return ", ".join(view.schema[column].name for column in key) or "none needed: one row at most"


def _tree(plan: Plan, indent: str) -> list[str]:
    price = cost(plan)
    lines = [indent + spell_node(plan) + (f"   [{price}]" if price else "")]
    for input_ in inputs(plan):
        lines += _tree(input_, indent + "  ")
    return lines


def cost(plan: Plan) -> str:
    """What one step costs, by the size of the change."""
    match plan:
        case Join() if not plan.left_keys:
            return "changed rows by all rows of the other side, two traces"
        case Join():
            return "lookup of changed keys, two traces"
        case Aggregate():
            return "touched groups"
        case Window():
            return "touched partitions"
        case Top():
            return f"touched partitions, the first {plan.size} rows of each"
        case Distinct():
            return "lookup of changed rows, one trace"
        case Levels():
            return "what changes in each level"
        case Scan():
            return ""
        case _:
            return "linear"
