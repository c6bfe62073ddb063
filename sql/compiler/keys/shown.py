"""SET show_key = true (--show-key): views that don't select their key show it, behind what they select.

Who reads such a view, or writes it to a target, gets what it selects, as ever: of that there is a view of its
own then. One whose changes wait, or that leaves late rows out, stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbsp.sql.compiler.keys.hidden import unselected_key, with_its_key, without_views
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Insert, View
from dbsp.sql.plans.schemas import Key
from dbsp.sql.rules import apply_rules
from dbsp.sql.rules.traverse import bottom_up

SHOWN_KEY = "__key_"


def with_keys_shown(
    views: Mapping[str, View], inserts: Sequence[Insert], written: Mapping[str, Plan], keys: Mapping[str, Key]
) -> tuple[dict[str, View], list[Insert]]:
    """Views and INSERTs of a program, in its order.

    written: the plans, as they are written, of views that are their plans' rows. keys: of tables and views.
    """
    targets = {insert.view: insert.target for insert in inserts}
    shown: dict[str, View] = {}
    narrow: dict[str, str] = {}
    for name, view in views.items():
        read = replace(view, plan=_renamed(view.plan, narrow))
        wide = None if name not in written else _wide(view, without_views(written[name], written, keys), keys)
        if wide is None:
            shown[name] = read
            continue
        target = targets.get(name)
        narrow[name] = f"{name} as selected" if target is None else f"insert into {target}: {name}"
        kind = "local" if target is None else "view"
        shown[narrow[name]] = replace(read, name=narrow[name], kind=kind, order=())
        shown[name] = replace(wide, plan=_renamed(wide.plan, narrow))
    return shown, [replace(insert, view=narrow.get(insert.view, insert.view)) for insert in inserts]


def _wide(view: View, written: Plan, keys: Mapping[str, Key]) -> View | None:
    """The view with its key behind; None where it has one, or none."""
    if view.kind == "local" or view.emission is not None or view.lateness or keys[view.name] is not None:
        return None
    if not unselected_key(written, keys):
        return None
    plan, _ = with_its_key(written, keys)
    width = len(view.schema)
    names = [f"{SHOWN_KEY}{field.name}" for field in plan.schema[width:]]
    taken = {name: names.count(name) > 1 for name in names}
    hidden = (
        replace(field, name=f"{name}_{i}" if taken[name] else name)
        for i, (field, name) in enumerate(zip(plan.schema[width:], names, strict=True), 1)
    )
    schema = (*view.schema, *hidden)
    return replace(view, schema=schema, plan=apply_rules(plan))


def _renamed(plan: Plan, names: Mapping[str, str]) -> Plan:
    def read(one: Plan) -> Plan:
        return (
            replace(one, relation=names[one.relation])
            if isinstance(one, Scan) and one.relation in names
            else one
        )

    return bottom_up(plan, read)
