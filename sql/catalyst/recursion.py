"""WITH RECURSIVE, and what a query may do with a relation that it helps to define."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.nodes import Levels, Scan, Union
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Schema

# Spark's, unless the query says MAX RECURSION LEVEL
LEVELS = 100
# what MAX RECURSION LEVEL -1 lifts the limit to: an iteration is 32 bits
MOST = (1 << 31) - 2

_KEYWORDS = {
    "Window": "OVER",
    "GlobalLimit": "LIMIT",
    "LocalLimit": "LIMIT",
    "Offset": "OFFSET",
    "Except": "EXCEPT",
    "Intersect": "INTERSECT",
}


def check_monotone(query: Query, node: Node, plan: Plan) -> None:
    """Raises ProgramError if the node is no monotone function of a recursive relation.

    plan: what the node is translated to; everything below it has passed.
    """
    found = obstacle(plan, query.recursive)
    if found is not None:
        raise query.error(node, _not_monotone(_KEYWORDS.get(node["op"], found[0]), found[1]))


def level_before(schema: Schema) -> Plan:
    """What the recursive term reads. A later level may have NULLs where the first has none."""
    return Scan(LEVEL, tuple(replace(field, nullable=True) for field in schema))


def union_loop(query: Query, node: Node, anchor: Plan, term: Plan, schema: Schema) -> Plan:
    """node: of Spark's UnionLoop, with these inputs. Raises ProgramError for what is not maintained yet."""
    options = node["o"]
    if options["limit"] is not None:
        raise query.refuse(node, "LIMIT of WITH RECURSIVE", "LIMIT")
    if any(isinstance(inner, Levels) and LEVEL in term.scanned() for inner in _inside(term)):
        raise query.refuse(node, "WITH RECURSIVE inside the recursive term of another", "RECURSIVE")
    if not _every_branch_recurs(term):
        message = (
            "a branch of the recursive term doesn't refer to the recursion: its rows would come at each level"
        )
        raise query.error(node, message)
    limit = LEVELS if options["maxDepth"] is None else int(options["maxDepth"])
    fields = tuple(replace(field, nullable=True) for field in schema)
    return Levels(anchor, term, limit if limit >= 0 else MOST, fields)


def _inside(plan: Plan) -> list[Plan]:
    return [plan, *(inner for input_ in plan.inputs for inner in _inside(input_))]


def _every_branch_recurs(plan: Plan) -> bool:
    """Whether without rows of the level before there are none."""
    if isinstance(plan, Union):
        return all(map(_every_branch_recurs, plan.inputs))
    if isinstance(plan, Scan):
        return plan.relation == LEVEL
    return any(map(_every_branch_recurs, plan.inputs))


def obstacle(plan: Plan, names: Set[str]) -> tuple[str, str] | None:
    """(what, which): an operator over one of these relations that may take rows back when they grow."""
    for input_ in plan.inputs:
        read = input_.scanned() & names
        what = plan.obstacle(read) if read else None
        if what is not None:
            return what, min(read)
        found = obstacle(input_, names) if read else None
        if found is not None:
            return found
    return None


def _not_monotone(what: str, name: str) -> str:
    """The message for an obstacle."""
    if name == LEVEL:
        return f"{what} in the recursive term of WITH RECURSIVE can't be maintained; use it outside"
    return (
        f"{what} over '{name}' in its own recursion, which can only add rows; "
        f"use it in a view that reads '{name}'"
    )
