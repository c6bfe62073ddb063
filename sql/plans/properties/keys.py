"""The stream keys of a program's tables and views (SEMANTICS S7), bottom up."""

from __future__ import annotations

from collections.abc import Mapping

from dbsp.sql.plans.program import SYSTEM_VIEWS, Program, Table, View
from dbsp.sql.plans.schemas import Key


def view_keys(program: Program) -> dict[str, Key]:
    """Per table and view, the positions of its key's columns."""
    return keys_of(program.tables, program.views)


def keys_of(tables: Mapping[str, Table], views: Mapping[str, View]) -> dict[str, Key]:
    """The same, of a program's tables and views in its order."""
    keys: dict[str, Key] = dict.fromkeys(SYSTEM_VIEWS)  # they scan themselves
    for table in tables.values():
        keys[table.name] = table_key(table)
    for view in views.values():
        keys[view.name] = tuple(range(len(view.schema))) if view.component else view.plan.stream_key(keys)
    return keys


def table_key(table: Table) -> Key:
    names = [field.name for field in table.schema]
    return tuple(map(names.index, table.primary_key)) or None
