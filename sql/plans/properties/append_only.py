"""Which plans never retract a row.

append_only(linear(a)) = append_only(a)      append_only(a ⋈ b) = append_only(a) ∧ append_only(b)
append_only(a as of now) = append_only(a), where rows only ever come into view; else, and of phases(a), false
append_only(a ⋉ b) = append_only(a) ∧ append_only(b)
append_only(a ▷ b) = false, and so of outer and existence joins: a row's first match retracts it
append_only(a ⋈ b as of) = false: a nearer row replaces the nearest
append_only(a ∩ b) = append_only(a) ∧ append_only(b)    append_only(a − b) = false
append_only(distinct(a)) = append_only(a)    append_only(aggregate(a)) = false: a group's row is replaced
append_only(window(a)) = append_only(top(a)) = false: a row in between changes others' ranks

A recursion is append-only if it is on the assumption that what it reads of itself is: by induction over its
iterations, each of which is such a plan, and so is their limit.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbsp.sql.plans.plan import (
    LEVEL,
    Aggregate,
    AsOf,
    Distinct,
    Expand,
    Filter,
    Generate,
    Join,
    Levels,
    Plan,
    Project,
    Scan,
    SetOperation,
    TemporalFilter,
    TimedProjection,
    Top,
    Union,
    Values,
    Window,
    unknown,
)
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.properties.relations_read import scanned


def append_only(plan: Plan, relations: Mapping[str, bool]) -> bool:
    """relations: the same of each table and earlier view."""
    match plan:
        case Scan():
            return relations[plan.relation]
        case Values():
            return True
        case Aggregate() | AsOf() | Window() | Top() | TimedProjection():
            return False
        case TemporalFilter():
            return not any(b.leaves for b in plan.bounds) and append_only(plan.input, relations)
        case Join():
            grows = plan.kind in ("inner", "semi")
            return grows and append_only(plan.left, relations) and append_only(plan.right, relations)
        case Levels():
            return append_only(plan.anchor, relations) and append_only(plan.term, {**relations, LEVEL: True})
        case SetOperation():
            # a row is taken from an EXCEPT when it comes to be on the right
            grows = plan.kind.startswith("intersect")
            return grows and append_only(plan.left, relations) and append_only(plan.right, relations)
        case Union():
            return all(append_only(input_, relations) for input_ in plan.inputs)
        case Project() | Filter() | Distinct() | Expand() | Generate():
            return append_only(plan.input, relations)
        case _:
            raise unknown(plan, "whether it retracts")


def to_promise(view: View, tables: Mapping[str, Table], views: Mapping[str, View]) -> list[str]:
    """The tables which, were they append-only too, would make the view so; [] where nothing does."""
    promised = {table.name: not table.primary_key for table in tables.values()}
    read = {view.name}
    for other in views.values():  # in the order of the program
        promised[other.name] = other.append_only or (
            not other.component and append_only(other.plan, promised)
        )
    if not promised[view.name]:
        return []
    for other in reversed([*views.values()]):
        read |= scanned(other.plan) if other.name in read else set()
    return [table.name for table in tables.values() if table.name in read and not table.append_only]
