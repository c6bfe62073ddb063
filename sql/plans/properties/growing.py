"""What a query may do with a relation that it helps to define: nothing that takes rows back as it grows."""

from __future__ import annotations

from collections.abc import Set

from dbsp.sql.plans.plan import (
    LEVEL,
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
    TemporalFilter,
    TimedProjection,
    Union,
)
from dbsp.sql.plans.properties.relations_read import scanned
from dbsp.sql.plans.verify import inputs


def obstacle(plan: Plan, names: Set[str]) -> tuple[str, str] | None:
    """(what, which): an operator over one of these relations that may take rows back when they grow."""
    for input_ in inputs(plan):
        read = scanned(input_) & names
        if read and not _is_monotone(plan, read):
            return _named(plan), min(read)
        found = obstacle(input_, names) if read else None
        if found is not None:
            return found
    return None


def _is_monotone(plan: Plan, read: Set[str]) -> bool:
    if isinstance(plan, Join):
        # levels are bags: a row with two matches must not become two
        return plan.kind == "inner" or (plan.kind == "semi" and (plan.residual is None or LEVEL not in read))
    return isinstance(plan, Scan | Project | Filter | Distinct | Union | Expand | Generate)


def _named(plan: Plan) -> str:
    match plan:
        case Aggregate():
            return "an aggregate"
        case Join():
            return f"{plan.kind.upper()} JOIN"
        case AsOf():
            return "ASOF JOIN"
        case Levels():
            return "WITH RECURSIVE"
        case TemporalFilter() | TimedProjection():
            return "a condition on the clock"
        case _:
            return type(plan).__name__


def not_monotone(what: str, name: str) -> str:
    """The message for an obstacle."""
    if name == LEVEL:
        return f"{what} in the recursive term of WITH RECURSIVE can't be maintained; use it outside"
    return (
        f"{what} over '{name}' in its own recursion, which can only add rows; "
        f"use it in a view that reads '{name}'"
    )
