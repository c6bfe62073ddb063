"""The rules in their order, and the check after each."""

from __future__ import annotations

from collections.abc import Callable

from sql.plan import Plan
from sql.verify import verify

Rule = Callable[[Plan], Plan]

RULES: tuple[Rule, ...] = ()


def apply_rules(plan: Plan) -> Plan:
    """The same relation, cheaper to maintain; its schema is unchanged."""
    schema = plan.schema
    verify(plan)
    for rule in RULES:
        plan = rule(plan)
        verify(plan)
        assert plan.schema == schema, f"{rule.__module__} changed the schema: {schema} → {plan.schema}"
    return plan
