"""Rebuilding a plan from its leaves, and an expression from its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.sql.plans.calls import Change
from dbsp.sql.plans.plan import Plan


def bottom_up(plan: Plan, rule: Callable[[Plan], Plan]) -> Plan:
    """`rule` on every node, inputs first."""
    return rule(plan.over(*(bottom_up(input_, rule) for input_ in plan.inputs)))


def rebuilt(expression: Expression, change: Change) -> Expression:
    """`change` on every part of the expression, arguments first."""
    if isinstance(expression, Call):
        arguments = tuple(rebuilt(argument, change) for argument in expression.arguments)
        if arguments != expression.arguments:
            expression = replace(expression, arguments=arguments)
    return change(expression)
