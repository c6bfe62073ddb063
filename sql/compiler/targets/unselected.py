"""A target that has the key of what is inserted, which isn't selected, as its PRIMARY KEY gets it beside.

So a view without a key can be upserted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbsp.sql.compiler.keys.hidden import unselected_key, with_its_key, without_views
from dbsp.sql.compiler.targets.format_columns import FILLED
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.schemas import Key
from dbsp.sql.rules import apply_rules
from dbsp.sql.text.statements.statements import InsertInto
from dbsp.sql.text.tokens import Token


def with_hidden_key(
    statement: InsertInto,
    view: View,
    written: Plan | None,
    views: Mapping[str, Plan],
    keys: Mapping[str, Key],
    target: Table,
    name: str,
) -> tuple[InsertInto, View, tuple[str, ...]]:
    """What is inserted, with the key that the target wants of a view that has none; and what would be a key.

    written: the view's plan. views: the plans of those that are their plans' rows; both as they are written.
    name: of the view that is made, if one is.
    """
    if keys[view.name] is not None or written is None:
        return statement, view, ()
    plan = without_views(written, views, keys)
    found = with_key(statement, view, plan, keys, target, name)
    return *(found or (statement, view)), unselected_key(plan, keys)


def with_key(
    statement: InsertInto, view: View, written: Plan, keys: Mapping[str, Key], target: Table, name: str
) -> tuple[InsertInto, View] | None:
    """What gives the target its key beside the view's rows; None where the key is not that of the target.

    written: the view's plan as written. name: of the view that is made, whose last columns are what isn't
    selected of the key.
    """
    if view.emission is not None or view.lateness or not unselected_key(written, keys):
        return None
    plan, key = with_its_key(written, keys)
    width = len(view.schema)
    hidden = [field.name.lower() for field in plan.schema[width:]]
    listed = _listed(statement, target, width, hidden)
    if listed is None or {listed[at] for at in key} != {name.lower() for name in target.primary_key}:
        return None
    start = statement.query.start
    columns = tuple(Token("word", name, start, start) for name in listed)
    keyed = replace(view, name=name, schema=plan.schema, kind="view", plan=apply_rules(plan), order=())
    return replace(statement, columns=columns), keyed


def _listed(statement: InsertInto, target: Table, width: int, hidden: Sequence[str]) -> list[str] | None:
    """The target's columns that are given, those of the key that isn't selected behind the others; None where
    they are given already, or two are of one name. width: how many columns are selected.
    """
    if statement.columns is None:
        names = [name for column in target.schema if (name := column.name.lower()) not in FILLED]
        listed = [name for name in names if name not in hidden]
    else:
        listed = [token.text.lower() for token in statement.columns]
    listed += hidden
    return listed if len(listed) == width + len(hidden) == len({*listed}) else None
