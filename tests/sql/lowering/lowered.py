"""Circuits of small programs in tests, and what they are made of."""

from __future__ import annotations

from typing import TypeVar

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.operators.operator import Node, Operator
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Table, View
from tests.sql.hand_made import T, U, table, view

Kind = TypeVar("Kind", bound=Operator)


def circuit_of(*plans: Plan, tables: tuple[Table, ...] = (table(T), table(U))) -> Circuit:
    """Of a view each."""
    return circuit_with([view(f"v{i}", plan) for i, plan in enumerate(plans)], tables)


def circuit_with(views: list[View], tables: tuple[Table, ...]) -> Circuit:
    return lower({one.name: one for one in tables}, {one.name: one for one in views})


def nodes_of(circuit: Circuit, kind: type[Operator]) -> list[Node]:
    return [node for node in circuit.nodes if isinstance(node.operator, kind)]


def operators(circuit: Circuit, kind: type[Kind]) -> list[Kind]:
    return [node.operator for node in circuit.nodes if isinstance(node.operator, kind)]


def inputs_of(circuit: Circuit, node: Node) -> list[Operator]:
    return [circuit.nodes[i].operator for i in node.inputs]
