"""A comparison with what a sub-query makes of the row's group: the group's row is looked at, not read.

    π(a ⋈[k; x θ y] b) = π(a ⋉[k; x θ y] b)    where π reads no column of b, and b has at most one row a k

So is `x > (SELECT avg(x) FROM b WHERE b.k = a.k)`, which Catalyst makes a join of. Pairs of a group change
whenever its average does, the rows above it but where they lie between what it was and what it is
(`circuits/operators/joins/compared.py`).

What is no comparison by order alone stays a join of pairs, and so does one within WITH RECURSIVE, whose
levels are bags.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from dbsp.circuits.expressions.nodes import columns_of
from dbsp.circuits.expressions.partial import can_fail
from dbsp.circuits.expressions.predicates import conjuncts
from dbsp.sql.plans.expressions.compared import compared
from dbsp.sql.plans.nodes import Filter, Join, Project
from dbsp.sql.plans.nodes.join import is_unique, join_schema
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.nodes.project import columns_in
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Key
from dbsp.sql.rules.traverse import bottom_up


def semi_joins(plan: Plan) -> Plan:
    return bottom_up(plan, _rewrite)


def _rewrite(node: Plan) -> Plan:
    if not isinstance(node, Project):
        return node
    read, filters, below = columns_in(node.expressions), [], node.input
    while isinstance(below, Filter):
        read |= set(columns_of(below.condition))
        filters.append(below.condition)
        below = below.input
    if not isinstance(below, Join) or not _tells_by_one_row(below):
        return node
    if any(column >= len(below.left.schema) for column in read):
        return node
    semi: Plan = replace(
        below, kind="semi", schema=join_schema("semi", below.left.schema, below.right.schema)
    )
    for condition in reversed(filters):
        semi = Filter(semi, condition)
    return replace(node, input=semi)


def _tells_by_one_row(join: Join) -> bool:
    """Whether a left row is in one pair at most, and that by one comparison of both sides."""
    if join.kind != "inner" or LEVEL in join.scanned():
        return False
    width = len(join.left.schema)
    both = [
        part
        for part in conjuncts(join.residual)
        if len({column >= width for column in columns_of(part)}) != 1 or can_fail(part)
    ]
    if compared("semi", both, width) is None:
        return False
    # what relations are unique by isn't known of plans yet
    unknown: defaultdict[str, Key] = defaultdict(lambda: None)
    return is_unique(join.right_keys, join.right.stream_key(unknown))
