"""Rebuilding a plan from its leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dbsp.sql.plans.plan import (
    Aggregate,
    AsOf,
    Distinct,
    Expand,
    Filter,
    Generate,
    Join,
    Levels,
    Plan,
    Project,
    Scan,
    SetOperation,
    TemporalFilter,
    TimedProjection,
    Top,
    Union,
    Values,
    Window,
    join_schema,
    unknown,
)


def bottom_up(plan: Plan, rule: Callable[[Plan], Plan]) -> Plan:
    """`rule` on every node, inputs first."""
    return rule(with_inputs(plan, lambda input_: bottom_up(input_, rule)))


def with_inputs(plan: Plan, change: Callable[[Plan], Plan]) -> Plan:
    """The node over changed inputs of the same types; a join's schema follows its inputs."""
    match plan:
        case Scan() | Values():
            return plan
        case Join() | AsOf():
            left, right = change(plan.left), change(plan.right)
            schema = join_schema(plan.kind, left.schema, right.schema)
            return replace(plan, left=left, right=right, schema=schema)
        case Levels():
            return replace(plan, anchor=change(plan.anchor), term=change(plan.term))
        case SetOperation():
            return replace(plan, left=change(plan.left), right=change(plan.right))
        case Union():
            return replace(plan, inputs=tuple(change(input_) for input_ in plan.inputs))
        case (
            Project()
            | Filter()
            | TemporalFilter()
            | TimedProjection()
            | Aggregate()
            | Distinct()
            | Expand()
            | Generate()
            | Window()
            | Top()
        ):
            return replace(plan, input=change(plan.input))
        case _:
            raise unknown(plan, "how it is rebuilt")
