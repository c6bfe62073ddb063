"""Stream keys: the columns that tell a view's rows apart (SEMANTICS S7), bottom up.

    key(table) = its primary key        key(σ a) = key(a)       key(π a) = key(a), where π keeps all of it
    key(a ⋈ b) = key(a) ∪ key(b), or key(a) alone where b has at most one match
    key(a ⋉ b) = key(a ▷ b) = key(a)    key(γ[k] a) = k         key(distinct a) = all columns
    key(a ⋈ b as of) = key(a)           key(ω a) = key(top a) = key(phases a) = key(a)
    key(posexplode a) = key(a) ∪ position
    key(top[p; row_number; 1] a) = p    key(recursive view) = all columns

π also keeps a column that it puts into a struct, or shifts by a constant, as a window's end is.
None: no columns do, rows are told apart by all their columns and counted.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow.types as pt

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.inputs.late import LATE_ROWS
from dbsp.sql.plans.plan import (
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
from dbsp.sql.plans.program import Program, Table, View

Key = tuple[int, ...] | None
# between timestamps and their microseconds
_ONE_TO_ONE = {"precise_timestamp_conversion", "known_not_null"}


def view_keys(program: Program) -> dict[str, Key]:
    """Per table and view, the positions of its key's columns."""
    return keys_of(program.tables, program.views)


def keys_of(tables: Mapping[str, Table], views: Mapping[str, View]) -> dict[str, Key]:
    """The same, of a program's tables and views in its order."""
    keys: dict[str, Key] = {LATE_ROWS: None}  # it is scanned, though no table and no view defines it
    for table in tables.values():
        keys[table.name] = table_key(table)
    for view in views.values():
        keys[view.name] = tuple(range(len(view.schema))) if view.component else stream_key(view.plan, keys)
    return keys


def table_key(table: Table) -> Key:
    names = [field.name for field in table.schema]
    return tuple(map(names.index, table.primary_key)) or None


def stream_key(plan: Plan, relations: Mapping[str, Key]) -> Key:  # noqa: PLR0912  a case a plan node
    """relations: the key of each table and earlier view. () is a key: there is one row at most."""
    match plan:
        case Scan():
            return relations[plan.relation]
        case Top(ranking="row_number", size=1) if all(isinstance(key, Column) for key in plan.partition):
            return tuple(key.index for key in plan.partition if isinstance(key, Column))
        case Filter() | TemporalFilter() | TimedProjection() | Window() | Top():
            return stream_key(plan.input, relations)
        case Project():
            return _projected(plan.expressions, stream_key(plan.input, relations))
        case Join():
            return _joined(plan, relations)
        case AsOf():
            return stream_key(plan.left, relations)
        case Generate() if plan.position:
            inner = stream_key(plan.input, relations)
            if inner is None or not set(inner) <= set(plan.kept):
                return None
            return (*(plan.kept.index(column) for column in inner), len(plan.kept))
        case Aggregate():
            return tuple(range(len(plan.keys)))
        case Distinct():
            inner = stream_key(plan.input, relations)
            return tuple(range(len(plan.schema))) if inner is None else inner
        case SetOperation():
            return _of_set(plan, relations)
        case Values() | Union() | Expand() | Generate() | Levels():
            return None
        case _:
            raise unknown(plan, "what its key is")


def _joined(plan: Join, relations: Mapping[str, Key]) -> Key:
    left, right = stream_key(plan.left, relations), stream_key(plan.right, relations)
    if left is None or plan.kind in ("semi", "anti", "existence"):
        return left
    if right is None:
        return None
    width = len(plan.left.schema)
    if plan.kind == "full":
        # a left row beside NULLs and a right row beside NULLs differ where a key can't be NULL
        required = all(
            any(not side.schema[column].nullable for column in key)
            for side, key in ((plan.left, left), (plan.right, right))
        )
        return (*left, *(width + column for column in right)) if required else None
    if is_unique(plan.right_keys, right):
        return left
    if plan.kind == "inner" and is_unique(plan.left_keys, left):
        return tuple(width + column for column in right)
    return (*left, *(width + column for column in right))


def _of_set(plan: SetOperation, relations: Mapping[str, Key]) -> Key:
    """A row of the output is one of the left, and of an INTERSECT one of the right."""
    inner = stream_key(plan.left, relations)
    if inner is None and plan.kind.startswith("intersect"):
        inner = stream_key(plan.right, relations)
    if inner is None and not plan.kind.endswith(" all"):
        return tuple(range(len(plan.schema)))
    return inner


def is_unique(keys: tuple[Expression, ...], key: Key) -> bool:
    """Whether at most one row has given values of the join keys: the stream key is among them."""
    return key is not None and {key.index for key in keys if isinstance(key, Column)} >= set(key)


def _projected(expressions: tuple[Expression, ...], key: Key) -> Key:
    if key is None:
        return None
    kept: dict[int, int] = {}
    for i, expression in enumerate(expressions):
        for column in told_by(expression):
            if column not in kept or isinstance(expression, Column) > isinstance(
                expressions[kept[column]], Column
            ):
                kept[column] = i
    return tuple(dict.fromkeys(kept[column] for column in key)) if kept.keys() >= set(key) else None


def told_by(expression: Expression) -> set[int]:
    """The columns whose values can be told from the expression's value."""
    if isinstance(expression, Column):
        return {expression.index}
    if not isinstance(expression, Call):
        return set()
    if expression.function == "create_named_struct":
        return set[int]().union(*map(told_by, expression.arguments[1::2]))
    if expression.function in _ONE_TO_ONE:
        return told_by(expression.arguments[0])
    if expression.function in ("add", "subtract") and isinstance(expression.arguments[1], Literal):
        data_type = expression.type
        same = pt.is_integer(data_type) and expression.option("evalMode", "ANSI") == "ANSI"
        return told_by(expression.arguments[0]) if same else set()
    return set()
