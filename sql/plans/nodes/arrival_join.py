"""Joins of a stream with a table that changes: each row meets the table once, when it arrives."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.sql.plans.nodes.join import Conditional, is_unique
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Key
from dbsp.sql.plans.shown.spelling import spell

ARRIVAL_JOINS = ("inner", "left", "semi", "anti")


@dataclass(frozen=True, slots=True)
class ArrivalJoin(Conditional):
    """Left rows beside the rows of the right that are there in the step in which they come.

    Nothing that the right does later changes what a row met: no row of the output is ever taken back.
    kind: of ARRIVAL_JOINS. Source: Apache Calcite, "Streaming", joins of streams to tables.
    """

    def verify(self) -> None:
        self.verify_keys(ARRIVAL_JOINS)

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(a ⋈ b on arrival) = append_only(a), whatever b does"""
        return self.left.append_only(relations)

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(a ⋈ b on arrival) = key(a), where b has at most one match: a row meets it once"""
        left = self.left.stream_key(relations)
        right = self.right.stream_key(relations)
        return left if self.kind in ("semi", "anti") or is_unique(self.right_keys, right) else None

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """never(a ⋈ b on arrival) = never(a)"""
        return self.left.asked_for(relations)

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        """Of the left: its columns come first."""
        return self.left.monotonic(relations)

    def obstacle(self, growing: Set[str]) -> str | None:
        return "a join of a stream with a table that changes"

    def named(self) -> ArrivalJoin:
        return self

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(a ⋈ b on arrival): all; it is made of a join that was pruned"""
        return self, {i: i for i in range(len(self.schema))}

    @property
    def cost(self) -> str:
        return f"lookup of {'new keys' if self.left_keys else 'every row'}, one trace"

    @property
    def spelled(self) -> str:
        residual = [] if self.residual is None else [spell(self.residual, tuple(sum(self.qualified(), ())))]
        condition = " AND ".join([*self.spelled_keys(), *residual])
        return f"{self.kind} join on arrival{f' on {condition}' if condition else ' of every pair'}"
