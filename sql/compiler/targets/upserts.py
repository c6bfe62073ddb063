"""Standing UPSERT INTO: of each key of its target the row of the query that came last.

    upsert(q)ₜ = { x ∈ qₜ : no y ∈ qₜ of the same key arrived later }

It is INSERT INTO where the query has at most one row of a key. So a row that is taken back leaves the key to
the one that came before it, if that is still there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbsp.sql.catalyst.arrival.arrived import arrival_of
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.compiler.targets.given import given_places
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.nodes import Project, Top
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.schemas import Key, columns_of_schema
from dbsp.sql.rules import apply_rules
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.statements import InsertInto


def check_upsert(source: Source, statement: InsertInto, target: Table) -> None:
    """Raises ProgramError for a target that holds rows, and no row a key."""
    if statement.upsert and not target.primary_key:
        message = (
            f"UPSERT INTO '{target.name}' keeps the last row of each key, and it has none; declare PRIMARY "
            f"KEY (...) in '{target.name}', or write INSERT INTO"
        )
        raise source.error(statement.start, message)


def last_of_each_key(
    source: Source, statement: InsertInto, view: View, query: Query, key: Key, target: Table
) -> View:
    """What is upserted of a view that `has_several`. query: the view's. key: of its rows.

    Raises ProgramError where nothing tells which row is the last.
    """
    places = given_places(source, statement, view, target)
    arrived = None if view.emission is not None or view.lateness else arrival_of(query, view.plan)
    if arrived is None:
        raise source.error(statement.query.start, _unknown(view, key, target, places))
    columns = columns_of_schema(arrived.plan.schema)
    partition = tuple(
        column for name in target.primary_key for column in columns if column.index == places[name]
    )
    order = tuple(SortOrder(column, descending=True) for column in arrived.columns)
    last = Top(arrived.plan, partition, order, "row_number", 1, False, arrived.plan.schema)
    plan = Project(last, columns[: len(view.plan.schema)], view.plan.schema)
    return replace(view, plan=apply_rules(plan), append_only=False, order=())


def has_several(source: Source, statement: InsertInto, view: View, key: Key, target: Table) -> bool:
    """Whether what is given may have several rows of one of the target's keys, all of which are given."""
    places = given_places(source, statement, view, target)
    given = {places[name] for name in target.primary_key}
    return None not in given and (key is None or not given.issuperset(key))


def _unknown(view: View, key: Key, target: Table, places: Mapping[str, int | None]) -> str:
    spelled = ", ".join(target.primary_key)
    what = f"UPSERT INTO '{target.name}': a key ({spelled}) could have several rows"
    if view.emission is not None:
        why = "which leave when they are final, whichever is first"
    else:
        why = "which came in no order, as those of a table and what filters, joins or unites them do"
    cures = ["choose one, as by max_by(x, time) ... GROUP BY or QUALIFY row_number() OVER (...) = 1"]
    if key:
        listed = ", ".join(name for place in key for name in places if places[name] == place)
        cures.insert(0, f"declare PRIMARY KEY ({listed})")
    return f"{what}, {why}; {', or '.join(cures)}"
