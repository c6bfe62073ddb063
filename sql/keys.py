"""Stream keys: the columns that tell a view's rows apart (SEMANTICS S7), bottom up.

    key(table) = its primary key        key(σ a) = key(a)       key(π a) = key(a), where π keeps all of it
    key(a ⋈ b) = key(a) ∪ key(b)        key(γ[k] a) = k         key(distinct a) = all columns
    key(ω a) = key(a)

None: no columns do, rows are told apart by all their columns and counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from circuits.expressions.nodes import Column, Expression
from circuits.operators.late import LATE_ROWS
from sql.plan import Aggregate, Distinct, Filter, Join, Plan, Project, Scan, Window
from sql.program import Program

Key = tuple[int, ...] | None


def view_keys(program: Program) -> dict[str, Key]:
    """Per table and view, the positions of its key's columns."""
    keys: dict[str, Key] = {LATE_ROWS: None}  # it is scanned, though no table and no view defines it
    for table in program.tables.values():
        names = [field.name for field in table.schema]
        keys[table.name] = tuple(map(names.index, table.primary_key)) or None
    for view in program.views.values():
        keys[view.name] = stream_key(view.plan, keys)
    return keys


def stream_key(plan: Plan, relations: Mapping[str, Key]) -> Key:
    """relations: the key of each table and earlier view. () is a key: there is one row at most."""
    match plan:
        case Scan():
            return relations[plan.relation]
        case Filter() | Window():
            return stream_key(plan.input, relations)
        case Project():
            return _projected(plan.expressions, stream_key(plan.input, relations))
        case Join():
            left, right = stream_key(plan.left, relations), stream_key(plan.right, relations)
            if left is None or right is None:
                return None
            width = len(plan.left.schema)
            return (*left, *(width + column for column in right))
        case Aggregate():
            return tuple(range(len(plan.keys)))
        case Distinct():
            inner = stream_key(plan.input, relations)
            return tuple(range(len(plan.schema))) if inner is None else inner
        case _:
            return None


def _projected(expressions: tuple[Expression, ...], key: Key) -> Key:
    if key is None:
        return None
    kept = {e.index: i for i, e in reversed(list(enumerate(expressions))) if isinstance(e, Column)}
    return tuple(kept[column] for column in key) if kept.keys() >= set(key) else None
