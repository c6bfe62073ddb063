"""What every legal plan satisfies is what each of its nodes asks for."""

from __future__ import annotations

from dbsp.sql.plans.plan import Plan


def verify(plan: Plan) -> None:
    """Raises AssertionError naming the node: a broken plan is our bug, never the user's."""
    for input_ in plan.inputs:
        verify(input_)
    plan.verify()
