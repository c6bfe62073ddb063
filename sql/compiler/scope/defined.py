"""The tables and views that a program has defined so far, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.inputs import arrival_times
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import SYSTEM_VIEWS, Table, View
from dbsp.sql.text.statements.create_table import CreateTable

# of a row of a table that only grows: the clock of its step, and step · 2³² + its place in the step's rows
ROWTIME, ROW_ID = arrival_times.ROWTIME, "_row_id"


@dataclass
class Defined:
    """definitions: of the tables. streams: of every stream, whether its history may be read. forgetful:
    relations whose rows leave by the clock. looked_into: views whose plans are part of others'. beside: of a
    table, columns that queries may name though it declares none, in their order, and what Catalyst knows them
    with.
    """

    tables: dict[str, Table] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    definitions: dict[str, CreateTable] = field(default_factory=dict)
    streams: dict[str, bool] = field(default_factory=dict)
    forgetful: set[str] = field(default_factory=set)
    looked_into: set[str] = field(default_factory=set)
    beside: dict[str, dict[tuple[str, ...], str]] = field(default_factory=dict)

    def numbered(self, named: frozenset[str]) -> dict[str, tuple[str, int]]:
        """What Catalyst knows tables with for a query that names these columns, and how many are beside."""
        found = {}
        for table, known in self.beside.items():
            columns = max(known, key=lambda columns: (named.issuperset(columns), len(columns)))
            if named.issuperset(columns):
                found[table] = (known[columns], len(columns))
        return found

    def arriving(self) -> frozenset[str]:
        """The tables whose rows have an order of arrival: none of those whose weights may be negative."""
        return frozenset(t.name for t in self.tables.values() if t.primary_key or not t.unchecked)

    def exact_views(self) -> dict[str, Plan]:
        """The views that are their plans' rows: of others, late ones are left out."""
        views = [view for view in self.views.values() if not view.component and not view.lateness]
        return {view.name: view.plan for view in views if view.name not in SYSTEM_VIEWS}

    def columns(self) -> dict[str, list[str]]:
        return {relation.name: [column.name for column in relation.schema] for relation in self.relations()}

    def monotonic(self) -> dict[str, Bounds]:
        """The monotonic columns of all tables and views so far."""
        found: dict[str, Bounds] = {}
        for relation in self.relations():
            below = relation.plan.monotonic(found) if isinstance(relation, View) else {}
            found[relation.name] = {**below, **_annotated(relation), **_arriving(relation)}
        return found

    def append_only(self) -> dict[str, bool]:
        """An upsert of a present key retracts its old row, whatever the table allows its users."""
        tables = {t.name: t.append_only and not t.primary_key for t in self.tables.values()}
        return tables | {view.name: view.append_only for view in self.views.values()}

    def relations(self) -> list[Table | View]:
        return [*self.tables.values(), *self.views.values()]


def _annotated(relation: Table | View) -> Bounds:
    """Its columns with LATENESS."""
    return {
        ~one.column if one.decreasing else one.column: (Column(one.column, relation.schema[one.column].type),)
        for one in relation.lateness
    }


def _arriving(relation: Table | View) -> Bounds:
    """When its rows come, which stands behind its columns; those that wait leave with the time of before."""
    if not isinstance(relation, Table) or not relation.append_only or relation.watermarks:
        return {}
    place = len(relation.schema)
    return {place: (Column(place, CLOCK.type, nullable=False),)}
