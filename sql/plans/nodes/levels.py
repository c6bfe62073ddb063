"""WITH RECURSIVE: a relation that is added up level by level."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.sql.plans.calls import Change
from dbsp.sql.plans.legal import check_types
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.nodes.project import exactly
from dbsp.sql.plans.nodes.sets import all_of
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Key, Schema


@dataclass(frozen=True, slots=True)
class Levels(Plan):
    """Level 0 is `anchor`, level i + 1 is `term` over level i; all of them added up.

    The term scans the level before as LEVEL. limit: levels before it is an error that there are more.
    """

    anchor: Plan
    term: Plan
    limit: int
    schema: Schema

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.anchor, self.term)

    def over(self, *inputs: Plan) -> Levels:
        anchor, term = inputs
        return replace(self, anchor=anchor, term=term)

    def with_expressions(self, change: Change) -> Levels:
        return self

    def verify(self) -> None:
        for input_ in self.inputs:
            check_types(self, input_.schema, self.schema)

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """A recursion is append-only if it is on the assumption that what it reads of itself is.

        By induction over its levels, each of which is such a plan, and so is their sum.
        """
        return self.anchor.append_only(relations) and self.term.append_only({**relations, LEVEL: True})

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        return None

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        return set()

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return {}

    def obstacle(self, growing: Set[str]) -> str | None:
        return "WITH RECURSIVE"

    def scanned(self) -> frozenset[str]:
        return self.anchor.scanned() | self.term.scanned() - {LEVEL}

    def named(self) -> Levels:
        return self

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """All columns: the recursive term may read what nobody else does."""
        everything = all_of(self.schema)
        anchor, term = (exactly(side, everything) for side in (self.anchor, self.term))
        return replace(self, anchor=anchor, term=term), {i: i for i in everything}

    @property
    def cost(self) -> str:
        return "what changes in each level"

    @property
    def spelled(self) -> str:
        return f"all of at most {self.limit} levels: the first, and then each from the one before"
