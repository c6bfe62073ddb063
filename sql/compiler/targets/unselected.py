"""The key that a view would have, had its query selected it: of a join, those of both sides."""

from __future__ import annotations

from collections.abc import Mapping

from dbsp.sql.plans.nodes import Filter, Project
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Key


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
