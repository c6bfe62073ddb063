"""The expressions of a node, changed in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.sql.plans.calls import Changes, SortOrder, WindowCall
from dbsp.sql.plans.plan import (
    Aggregate,
    AsOf,
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
)
from dbsp.sql.plans.plan import Distinct as DistinctNode

Change = Callable[[Expression], Expression]


def rebuild(expression: Expression, change: Change) -> Expression:
    """`change` on every part of the expression, arguments first."""
    if isinstance(expression, Call):
        arguments = tuple(rebuild(argument, change) for argument in expression.arguments)
        if arguments != expression.arguments:
            expression = replace(expression, arguments=arguments)
    return change(expression)


def with_expressions(plan: Plan, change: Change) -> Plan:
    """`change` on every expression of this node, which must keep its type."""
    match plan:
        case Scan() | Union() | SetOperation() | Levels() | DistinctNode() | Values():
            return plan
        case Project():
            return replace(plan, expressions=tuple(map(change, plan.expressions)))
        case Filter():
            return replace(plan, condition=change(plan.condition))
        case TemporalFilter():
            return replace(plan, bounds=tuple(replace(b, value=change(b.value)) for b in plan.bounds))
        case TimedProjection():
            return replace(
                plan,
                changes=crossing(plan.changes, change),
                expressions=tuple(map(change, plan.expressions)),
                condition=None if plan.condition is None else change(plan.condition),
            )
        case Join():
            return replace(
                plan,
                left_keys=tuple(map(change, plan.left_keys)),
                right_keys=tuple(map(change, plan.right_keys)),
                residual=None if plan.residual is None else change(plan.residual),
            )
        case AsOf():
            return replace(
                plan,
                left_keys=tuple(map(change, plan.left_keys)),
                right_keys=tuple(map(change, plan.right_keys)),
                left_time=change(plan.left_time),
                right_time=change(plan.right_time),
            )
        case Aggregate():
            calls = tuple(
                replace(
                    call,
                    arguments=tuple(map(change, call.arguments)),
                    filter=None if call.filter is None else change(call.filter),
                )
                for call in plan.aggregates
            )
            return replace(plan, keys=tuple(map(change, plan.keys)), aggregates=calls)
        case Expand():
            return replace(plan, projections=tuple(tuple(map(change, row)) for row in plan.projections))
        case Generate():
            return replace(plan, elements=change(plan.elements))
        case Window():
            partition = tuple(map(change, plan.partition))
            return replace(plan, partition=partition, calls=tuple(changed(c, change) for c in plan.calls))
        case Top():
            partition = tuple(map(change, plan.partition))
            return replace(plan, partition=partition, order=reordered(plan.order, change))


def crossing(changes: Changes, change: Change) -> Changes:
    """`change` on the value of every crossing."""
    of_rows, ahead = (
        tuple(replace(one, value=change(one.value)) for one in some)
        for some in (changes.crossings, changes.ahead)
    )
    return replace(changes, crossings=of_rows, ahead=ahead)


def changed(call: WindowCall, change: Change) -> WindowCall:
    """`change` on every expression of the window function."""
    frame = call.frame
    lower, upper = (change(e) if isinstance(e, Expression) else e for e in (frame.lower, frame.upper))
    return replace(
        call,
        arguments=tuple(map(change, call.arguments)),
        order=reordered(call.order, change),
        frame=replace(frame, lower=lower, upper=upper),
    )


def reordered(order: tuple[SortOrder, ...], change: Change) -> tuple[SortOrder, ...]:
    """`change` on every expression of an ORDER BY list."""
    return tuple(replace(by, expression=change(by.expression)) for by in order)
