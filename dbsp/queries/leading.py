"""ORDER BY ... LIMIT of a whole view: the query is asked of the rows that lead in that order.

top k (π v) = top k (π (first k of v, and those that tie))        where v is read once, below nothing else
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dbsp.circuits.expressions.nodes import Column, Expression, substitute
from dbsp.sql.plans.calls import SortOrder, reordered
from dbsp.sql.plans.nodes.leaves import Scan
from dbsp.sql.plans.nodes.project import Project
from dbsp.sql.plans.nodes.top import Top
from dbsp.sql.plans.plan import Plan


def leading_rows(plan: Plan) -> dict[str, tuple[int, tuple[SortOrder, ...]]]:
    """Of relations, how many rows in which order are enough."""
    found: dict[str, tuple[int, tuple[SortOrder, ...]]] = {}
    scanned = [node.relation for node in _nodes(plan) if isinstance(node, Scan)]
    for node in _nodes(plan):
        if isinstance(node, Top) and not node.partition and node.ranking != "dense_rank":
            below, order = node.input, node.order
            while isinstance(below, Project):
                order = reordered(order, partial(_below, made=below.expressions))
                below = below.input
            plain = all(isinstance(by.expression, Column) for by in order)
            if plain and isinstance(below, Scan) and scanned.count(below.relation) == 1:
                found[below.relation] = node.size, order
    return found


def _below(expression: Expression, made: tuple[Expression, ...]) -> Expression:
    def instead(column: Column) -> Expression:
        return made[column.index]

    return substitute(expression, instead)


def _nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for below in plan.inputs:
        yield from _nodes(below)
