"""What tables would have to promise, for a view never to retract a row."""

from __future__ import annotations

from collections.abc import Mapping

from dbsp.sql.plans.program import Table, View


def to_promise(view: View, tables: Mapping[str, Table], views: Mapping[str, View]) -> list[str]:
    """The tables which, were they append-only too, would make the view so; [] where nothing does."""
    promised = {table.name: not table.primary_key for table in tables.values()}
    read = {view.name}
    for other in views.values():  # in the order of the program
        promised[other.name] = other.append_only or (not other.component and other.plan.append_only(promised))
    if not promised[view.name]:
        return []
    for other in reversed([*views.values()]):
        read |= other.plan.scanned() if other.name in read else set()
    return [table.name for table in tables.values() if table.name in read and not table.append_only]
