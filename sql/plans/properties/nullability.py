"""Which columns of a plan are never NULL: beyond what the types say, those that a filter or a join asks for.

never(σ[c] a) = never(a) ∪ {x : c has a conjunct x IS NOT NULL, or one that compares x}
never(a ⋈[x = y] b) = never(a) ∪ never(b) ∪ {x, y}     never(π a), never(γ[k] a): those that are kept
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbsp.circuits.expressions.nodes import Call, Column, Expression
from dbsp.circuits.expressions.predicates import comparisons
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
    unknown,
)
from dbsp.sql.plans.program import View


def never_null(plan: Plan, views: Mapping[str, View]) -> set[int]:
    """views: those that the plan may read. Of one that scans itself, the system's, the types say it all."""
    declared = {i for i, field in enumerate(plan.schema) if not field.nullable}
    return declared | _shown(plan, views)


def _shown(plan: Plan, views: Mapping[str, View]) -> set[int]:
    match plan:
        case Scan():
            view = views.get(plan.relation)
            if view is None or view.component or view.plan == plan:
                return set()
            return never_null(view.plan, views)
        case Filter():
            return never_null(plan.input, views) | _asked(plan.condition)
        case TemporalFilter():
            compared = {b.value.index for b in plan.bounds if isinstance(b.value, Column)}
            return never_null(plan.input, views) | compared
        case TimedProjection():
            return never_null(plan.input, views)
        case Project():
            return _kept(plan.expressions, never_null(plan.input, views))
        case Aggregate():
            return _kept(plan.keys, never_null(plan.input, views))
        case Distinct():
            return never_null(plan.input, views)
        case Join(kind="inner"):
            width = len(plan.left.schema)
            return (
                never_null(plan.left, views)
                | {width + i for i in never_null(plan.right, views)}
                | _keys(plan.left_keys, plan.null_safe, 0)
                | _keys(plan.right_keys, plan.null_safe, width)
                | _asked(plan.residual)
            )
        case (
            Values()
            | Join()
            | AsOf()
            | Union()
            | SetOperation()
            | Expand()
            | Generate()
            | Window()
            | Top()
            | Levels()
        ):
            return set()
        case _:
            raise unknown(plan, "which columns are never NULL")


def _kept(expressions: Sequence[Expression], below: set[int]) -> set[int]:
    return {i for i, e in enumerate(expressions) if isinstance(e, Column) and e.index in below}


def _keys(keys: Sequence[Expression], null_safe: Sequence[bool], first: int) -> set[int]:
    pairs = zip(keys, null_safe, strict=True)
    return {first + key.index for key, safe in pairs if isinstance(key, Column) and not safe}


def _asked(condition: Expression | None) -> set[int]:
    """The columns without which the condition isn't true."""
    compared = {e.index for pair in comparisons(condition) for e in pair if isinstance(e, Column)}
    if not isinstance(condition, Call):
        return compared
    if condition.function == "and":
        return compared.union(*map(_asked, condition.arguments))
    if condition.function == "is_not_null" and isinstance(condition.arguments[0], Column):
        return {condition.arguments[0].index}
    return compared
