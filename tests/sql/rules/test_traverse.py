"""Every node and every part of an expression is seen once, inputs and arguments first."""

from __future__ import annotations

from dataclasses import replace

from dbsp.circuits.expressions.nodes import Expression
from dbsp.sql.plans.nodes import Distinct, Filter, Scan, Union
from dbsp.sql.plans.plan import Plan
from dbsp.sql.rules.traverse import bottom_up, rebuilt
from tests.sql.hand_made import T, U, call, column, literal, positive

PLAN = Union((Filter(Distinct(T), positive(0)), U), T.schema)


def test_inputs_first() -> None:
    seen: list[Plan] = []

    def look(node: Plan) -> Plan:
        seen.append(node)
        return node

    assert bottom_up(PLAN, look) == PLAN
    assert seen == [T, Distinct(T), Filter(Distinct(T), positive(0)), U, PLAN]


def test_a_rule_sees_what_it_made_below() -> None:
    def rename(node: Plan) -> Plan:
        if isinstance(node, Scan):
            return replace(node, relation="s")
        return node.inputs[0] if isinstance(node, Distinct) else node

    other = Scan("s", T.schema)
    assert bottom_up(PLAN, rename) == Union((Filter(other, positive(0)), other), T.schema)


def test_arguments_first_and_their_change_is_seen() -> None:
    def fold(expression: Expression) -> Expression:
        if expression == column(1):
            return literal(0)
        return literal(7) if expression == call("add", column(0), literal(0)) else expression

    nested = call("multiply", call("add", column(0), column(1)), column(2))
    assert rebuilt(nested, fold) == call("multiply", literal(7), column(2))
    assert rebuilt(nested, lambda e: e) is nested
