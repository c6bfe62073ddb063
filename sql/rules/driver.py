"""The rules in their order, and the check after each."""

from __future__ import annotations

from collections.abc import Callable

from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.verify import verify
from dbsp.sql.rules.domains import domains
from dbsp.sql.rules.extremes import extremes
from dbsp.sql.rules.merge_projects import merge_projects
from dbsp.sql.rules.merge_windows import merge_windows
from dbsp.sql.rules.names import names
from dbsp.sql.rules.prune import prune
from dbsp.sql.rules.semi_joins import semi_joins
from dbsp.sql.rules.simplify import simplify
from dbsp.sql.rules.struct_keys import struct_keys
from dbsp.sql.rules.top_k import top_k

Rule = Callable[[Plan], Plan]

RULES: tuple[Rule, ...] = (
    # first: the other rules compare expressions, which are shorter afterwards
    simplify,
    # so that a group's struct stands in the Project right below it
    merge_projects,
    struct_keys,
    # a field of a struct that `struct_keys` made again is a column after these two
    merge_projects,
    simplify,
    # before pruning, which puts a Project between two windows
    merge_windows,
    top_k,
    # before pruning, which leaves out the window's column where only the condition reads it
    extremes,
    # before pruning, which leaves out columns of the outer rows that only the comparison above reads
    domains,
    # after merging: what a merged Project doesn't read need not be kept below it
    prune,
    # pruning puts Projects under joins and aggregates, often over one that is there
    merge_projects,
    # after pruning, which says by a Project above a join what is read of its sides
    semi_joins,
    # last: it undoes the aliases that the rules above carry along
    names,
)


def apply_rules(plan: Plan) -> Plan:
    """The same relation, cheaper to maintain; its schema is unchanged."""
    schema = plan.schema
    verify(plan)
    for rule in RULES:
        plan = rule(plan)
        verify(plan)
        assert plan.schema == schema, f"{rule.__name__} changed the schema: {schema} → {plan.schema}"
    return plan
