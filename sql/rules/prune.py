"""Keep only the columns that are read: traces hold what joins and aggregates need, and nothing else.

What a node needs of its inputs is its own answer (`Plan.pruned`). A Project is put where a narrower input
changes what is stored or moved: under joins, aggregates and DISTINCT. Linear operators read straight through.
"""

from __future__ import annotations

from dbsp.sql.plans.nodes.project import selected
from dbsp.sql.plans.plan import Plan


def prune(plan: Plan) -> Plan:
    everything = range(len(plan.schema))
    pruned, position = plan.pruned(set(everything))
    return selected(pruned, [position[i] for i in everything], plan.schema)
