"""Inner columns are named after what they hold, so that sub-plans which differ in aliases only are equal.

The root keeps the user's names.
"""

from __future__ import annotations

from dataclasses import replace

from dbsp.sql.plans.nodes import Aggregate, Expand, Project, SetOperation, Union, Values
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import columns_of_schema
from dbsp.sql.rules.traverse import bottom_up


def names(plan: Plan) -> Plan:
    named = bottom_up(plan, lambda node: node.named())
    if isinstance(named, Project | Aggregate | Expand | SetOperation | Union | Values):
        return replace(named, schema=plan.schema)
    if named.schema == plan.schema:
        return named
    return Project(named, columns_of_schema(named.schema), plan.schema)
