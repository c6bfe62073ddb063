"""A query with the columns that its ORDER BY reads and its SELECT leaves out, for who sorts its rows once.

    π[e](sort[o](π[e, m](a)))  becomes  sort[o](π[e, m](a))        of which the first |e| columns are shown

Catalyst adds to a Project, or an Aggregate, what the Sort above it orders by, and takes it away again above
the Sort. So the Project that only takes away is left out; limits above it take the same rows. A Sort in the
middle of a query says nothing of its rows' order.
"""

from __future__ import annotations

from dbsp.sql.catalyst.reading.query import Node, Query

_LIMITS = {"LocalLimit", "GlobalLimit", "Offset"}


def widened(query: Query, node: Node) -> tuple[Node, int]:
    """(the dumped plan, how many columns it has more)"""
    if node["op"] in _LIMITS:
        below, more = widened(query, node["k"][0])
        return (node, 0) if not more else ({**node, "k": [below], "out": below["out"]}, more)
    if node["op"] == "Project" and node["k"][0]["op"] == "Sort" and query.ends(node["k"][0]):
        below = node["k"][0]
        kept, there = ([column[1] for column in one["out"]] for one in (node, below))
        if len(kept) < len(there) and kept == there[: len(kept)]:
            return below, len(there) - len(kept)
    return node, 0
