"""The key that a view would have, had its query selected it: of a join, those of both sides.

A target that has such columns as its PRIMARY KEY gets them beside what is selected, so that a view without a
key can be upserted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbsp.sql.compiler.targets.format_columns import FILLED
from dbsp.sql.plans.nodes import Filter, Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.schemas import Key, columns_of_schema
from dbsp.sql.rules import apply_rules
from dbsp.sql.rules.traverse import bottom_up
from dbsp.sql.text.statements import InsertInto
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


def unselected_key(plan: Plan, keys: Mapping[str, Key]) -> tuple[str, ...]:
    """Its columns' names; () where none would be one.

    plan: the view's as written, with all that it reads. keys: of the relations that it reads.
    """
    while isinstance(plan, Project | Filter):
        plan = plan.input
        key = plan.stream_key(keys)
        if key:
            return tuple(dict.fromkeys(plan.schema[i].name for i in key))
    return ()


def with_key(
    statement: InsertInto, view: View, written: Plan, keys: Mapping[str, Key], target: Table, name: str
) -> tuple[InsertInto, View] | None:
    """What gives the target its key beside the view's rows; None where the key is not that of the target.

    written: the view's plan as written. name: of the view that is made, whose last columns are the key.
    """
    unselected = unselected_key(written, keys)
    listed = _listed(statement, target, len(view.schema), unselected)
    if listed is None or view.emission is not None or view.lateness:
        return None
    plan, key = _keyed(written, keys)
    if len(key) != len(unselected):
        return None  # two have one name
    return listed, replace(view, name=name, schema=plan.schema, kind="view", plan=apply_rules(plan), order=())


def without_views(plan: Plan, views: Mapping[str, Plan], keys: Mapping[str, Key]) -> Plan:
    """The plan with the plans of views that have no key in their places. views: as written."""

    def read(one: Plan) -> Plan:
        if not isinstance(one, Scan) or one.arrival or one.relation not in views or keys[one.relation]:
            return one
        return without_views(views[one.relation], views, keys)

    return bottom_up(plan, read)


def _keyed(plan: Plan, keys: Mapping[str, Key]) -> tuple[Plan, tuple[int, ...]]:
    """The plan's rows with their key behind the other columns, and where it lies."""
    key = plan.stream_key(keys)
    if key:
        return plan, key
    assert isinstance(plan, Project | Filter)
    below, places = _keyed(plan.input, keys)
    if isinstance(plan, Filter):
        return replace(plan, input=below), places
    columns = columns_of_schema(below.schema)
    width, count = len(plan.schema), len(places)
    expressions = (*plan.expressions, *(columns[i] for i in places))
    schema = (*plan.schema, *(below.schema[i] for i in places))
    return Project(below, expressions, schema), tuple(range(width, width + count))


def _listed(statement: InsertInto, target: Table, width: int, unselected: Sequence[str]) -> InsertInto | None:
    """The statement with the key among its columns. width: how many columns are selected."""
    names = [name for column in target.schema if (name := column.name.lower()) not in FILLED]
    hidden = [name.lower() for name in unselected]
    if not hidden or {*hidden} != {name.lower() for name in target.primary_key}:
        return None
    start = statement.query.start
    listed = statement.columns
    if listed is None:
        listed = tuple(Token("word", name, start, start) for name in names if name not in hidden)
    if len(listed) != width or {*hidden} & {token.text.lower() for token in listed}:
        return None
    return replace(statement, columns=(*listed, *(Token("word", name, start, start) for name in hidden)))
