"""Relations that are read as they are: tables and views, and constant rows."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from dbsp.circuits.expressions.mirror import column_of
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression
from dbsp.sql.plans.calls import Change
from dbsp.sql.plans.families import Leaf
from dbsp.sql.plans.legal import check_types
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Key, Schema

# the relation that the recursive term of a `Levels` scans
LEVEL = "the level before"


@dataclass(frozen=True, slots=True)
class Scan(Leaf):
    """All columns of a table, or of a view defined earlier in the program.

    rowtime, arrival: and behind them when the rows of a table arrived, and in which order.
    """

    relation: str
    schema: Schema
    arrival: bool = False
    rowtime: bool = False

    @property
    def reads_arrival(self) -> bool:
        """Whether it reads when rows arrived, or in which order."""
        return self.rowtime or self.arrival

    def with_expressions(self, change: Change) -> Scan:
        return self

    def verify(self) -> None:
        """There is nothing to it."""

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        return relations[self.relation]

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(table) = its primary key        key(recursive view) = all columns"""
        return relations[self.relation]

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        return relations.get(self.relation, set())

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        """A table's times of arrival stand behind its columns, whether they are read or not."""
        own = len(self.schema) - self.arrival
        known = relations.get(self.relation, {})
        return {place: bound for place, bound in known.items() if column_of(place) < own}

    def obstacle(self, growing: Set[str]) -> str | None:
        return None

    def forgets(self, relations: Set[str]) -> bool:
        return self.relation in relations

    def scanned(self) -> frozenset[str]:
        return frozenset({self.relation})

    def arriving(self) -> frozenset[str]:
        return frozenset({self.relation} if self.arrival else ())

    def timed(self) -> frozenset[str]:
        return frozenset({self.relation} if self.rowtime else ())

    def named(self) -> Scan:
        return self

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """All of the relation's own columns, and of those beside them what is needed."""
        own = len(self.schema) - self.arrival - self.rowtime
        rowtime = self.rowtime and own in needed
        arrival = self.arrival and len(self.schema) - 1 in needed
        read = [own] * rowtime + [len(self.schema) - 1] * arrival
        kept = [*range(own), *read]
        schema = tuple(self.schema[i] for i in kept)
        pruned = replace(self, schema=schema, arrival=arrival, rowtime=rowtime)
        return pruned, {old: new for new, old in enumerate(kept)}

    @property
    def cost(self) -> str:
        return ""

    @property
    def spelled(self) -> str:
        beside = ["its times of arrival"] * self.rowtime + ["its order of arrival"] * self.arrival
        return f"scan {self.relation}{' with ' * bool(beside)}{' and '.join(beside)}"


@dataclass(frozen=True, slots=True)
class Values(Leaf):
    """A constant relation (VALUES, SELECT without FROM): one tuple of literals per row."""

    rows: tuple[tuple[Expression, ...], ...]
    schema: Schema

    def with_expressions(self, change: Change) -> Values:
        return self

    def verify(self) -> None:
        for row in self.rows:
            check_types(self, row, self.schema)

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        return True

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        return None

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        return set()

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return {}

    def obstacle(self, growing: Set[str]) -> str | None:
        return None

    def named(self) -> Values:
        return replace(self, schema=tuple(replace(f, name=f"c{i}") for i, f in enumerate(self.schema)))

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        kept = sorted(needed) or [0]
        rows = tuple(tuple(row[i] for i in kept) for row in self.rows)
        schema = tuple(self.schema[i] for i in kept)
        return Values(rows, schema), {old: new for new, old in enumerate(kept)}

    @property
    def cost(self) -> str:
        return "linear"

    @property
    def spelled(self) -> str:
        return f"values of {len(self.rows)} rows"
