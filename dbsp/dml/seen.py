"""What statements that change rows see: tables and views as of a step, and what those before have changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dbsp.circuits.traces.zset import ZSet
from dbsp.dml.changed import Changed
from dbsp.dml.statement import Where
from dbsp.queries.answer import answer, answer_or_hand_over
from dbsp.queries.plans import Plans, named_in
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.text.tokens import quoted
from dbsp.views.indexes.hash_index import hashed_among
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# parts of a delta that are looked through one by one
_PARTS = 16


@dataclass
class Seen:
    """read: a table or view as of `step`. readable: their names. moment: when all statements happen; None:
    each at the machine's clock, and DEFAULTs of the clock with the step. deltas: of tables. timezone: of the
    statement's session.
    """

    program: Program
    plans: Plans
    read: Callable[[str], Contents]
    readable: list[str]
    step: int = 0
    spark: SparkSession | None = None
    moment: datetime | None = None
    deltas: dict[str, list[ZSet]] = field(default_factory=dict)
    timezone: str = ""

    def query(self, select: str, timezone: str | None = None) -> Contents:
        """The rows of a query, as statements see them: tables with what was changed, views as of the step."""
        contents = {name: self.contents(name) for name in named_in(select, self.readable)}
        plans = self.plans.in_zone(timezone or self.program.timezone)
        return answer_or_hand_over(plans, select, contents, self.spark, self.step, self.moment)

    def contents(self, name: str) -> Contents:
        """Of a table or view."""
        found, delta = self.read(name), self.deltas.get(name)
        if delta is None:
            return found
        return Changed(found, delta)

    def having(self, table: Table, values: dict[str, Any]) -> list[ZSet]:
        """The rows that columns have these values in, as parts: those that were there by their index."""
        there, delta = self.read(table.name), self.deltas.get(table.name, [])
        changed = Contents(table.name, there.schema, delta)
        return [found.where(values).zset for found in (there, changed) if found.parts]

    def like(self, table: Table, rows: ZSet, columns: Sequence[int]) -> ZSet:
        """At least the table's rows that have in some columns what one of these rows has; or all."""
        contents, schema = self.contents(table.name), arrow_schema(table)
        places = hashed_among(schema, columns)
        found = contents.among(places, rows.rows.select(places), len(contents)) if places else None
        return ZSet.sum(schema, contents.parts if found is None else found)

    def asked(self, select: str, ctes: str = "") -> ZSet:
        """The rows of a query of the statement's own. ctes: what stands before it."""
        select = f"{ctes} {select}" if ctes else select
        contents = {name: self.contents(name) for name in named_in(select, self.readable)}
        plans = self.plans.in_zone(self.timezone)
        return answer(plans, select, contents, self.spark, now=self.moment).zset

    def selected(self, table: Table, where: Where, ctes: str) -> ZSet:
        """The rows that a condition is true of."""
        if not where.condition:
            return self.contents(table.name).zset
        if where.equal is not None:
            schema = arrow_schema(table)
            return ZSet.sum(schema, self.having(table, where.equal)).consolidate()
        return self.asked(f"SELECT * FROM {self.called(table, where)} WHERE {where.condition}", ctes)

    def called(self, table: Table, where: Where) -> str:
        """The table as a relation, under the name that the statement has for its rows.

        Raises StateError where nothing keeps them.
        """
        if table.name not in self.readable:
            self.read(table.name)
        relation = quoted(table.name.split("."))
        return f"{relation} AS {quoted([where.name])}" if where.name else relation

    def see(self, table: Table, delta: ZSet) -> None:
        """What the statements to come see of a table, too."""
        deltas = self.deltas.setdefault(table.name, [])
        deltas.append(delta)
        if len(deltas) > _PARTS:
            deltas[:] = [ZSet.sum(arrow_schema(table), deltas)]
