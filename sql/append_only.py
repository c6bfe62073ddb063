"""Which plans never retract a row.

append_only(linear(a)) = append_only(a)      append_only(a ⋈ b) = append_only(a) ∧ append_only(b)
append_only(a as of now) = append_only(a), where rows only ever come into view
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

from sql.plan import (
    LEVEL,
    Aggregate,
    AsOf,
    Join,
    Levels,
    Plan,
    Scan,
    SetOperation,
    TemporalFilter,
    Top,
    Union,
    Values,
    Window,
)


def append_only(plan: Plan, relations: Mapping[str, bool]) -> bool:
    """relations: the same of each table and earlier view."""
    match plan:
        case Scan():
            return relations[plan.relation]
        case Values():
            return True
        case Aggregate() | AsOf() | Window() | Top():
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
        case _:
            return append_only(plan.input, relations)
