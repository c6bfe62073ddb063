"""What Catalyst stacks, a Window for each order, becomes one for each partition.

    ω[p; f](ω[p; g](a)) = ω[p; g, f](a)        where f and p read no column of g

So rows are stored once for all functions over the same partition.
"""

from __future__ import annotations

from dbsp.circuits.expressions.nodes import columns_of
from dbsp.sql.plans.nodes import Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.rules.traverse import bottom_up


def merge_windows(plan: Plan) -> Plan:
    return bottom_up(plan, _merge)


def _merge(node: Plan) -> Plan:
    if not isinstance(node, Window) or not isinstance(node.input, Window):
        return node
    if node.finds_sessions or node.input.finds_sessions:
        return node  # they have a trace of their own
    below = node.input
    width = len(below.input.schema)
    read = {i for e in node.expressions for i in columns_of(e)}
    if node.partition != below.partition or any(column >= width for column in read):
        return node
    return Window(below.input, below.partition, (*below.calls, *node.calls), node.schema)
