"""The key that a view would have, had its query selected it: of a join, those of both sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.plans.nodes import Filter, Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Key, columns_of_schema
from dbsp.sql.rules.traverse import bottom_up


def unselected_key(plan: Plan, keys: Mapping[str, Key]) -> tuple[str, ...]:
    """Its columns' names; () where none would be one, or it is selected.

    plan: the view's as written, with all that it reads. keys: of the relations that it reads.
    """
    while isinstance(plan, Project | Filter):
        plan = plan.input
        key = plan.stream_key(keys)
        if key:
            return tuple(dict.fromkeys(plan.schema[i].name for i in key))
    return ()


def with_its_key(plan: Plan, keys: Mapping[str, Key]) -> tuple[Plan, tuple[int, ...]]:
    """The plan's rows, what isn't selected of their key behind the other columns, and where the key lies.

    plan: one of an `unselected_key`.
    """
    key = plan.stream_key(keys)
    if key:
        return plan, key
    assert isinstance(plan, Project | Filter)
    below, places = with_its_key(plan.input, keys)
    if isinstance(plan, Filter):
        return replace(plan, input=below), places
    columns = columns_of_schema(below.schema)
    selected = {e.index: at for at, e in reversed([*enumerate(plan.expressions)]) if isinstance(e, Column)}
    hidden = [place for place in places if place not in selected]
    at = selected | {place: len(plan.schema) + i for i, place in enumerate(hidden)}
    expressions = (*plan.expressions, *(columns[place] for place in hidden))
    schema = (*plan.schema, *(below.schema[place] for place in hidden))
    return Project(below, expressions, schema), tuple(at[place] for place in places)


def without_views(plan: Plan, views: Mapping[str, Plan], keys: Mapping[str, Key]) -> Plan:
    """The plan with the plans of views that have no key in their places. views: as written."""

    def read(one: Plan) -> Plan:
        if not isinstance(one, Scan) or one.reads_arrival or one.relation not in views or keys[one.relation]:
            return one
        return without_views(views[one.relation], views, keys)

    return bottom_up(plan, read)
