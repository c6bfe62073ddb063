"""Joins with the nearest row in time."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression, remap
from dbsp.sql.plans.calls import Change
from dbsp.sql.plans.legal import at_fault, check_columns
from dbsp.sql.plans.nodes.join import Keyed, join_schema, joined_position
from dbsp.sql.plans.nodes.project import columns_in, narrowed
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Key, Schema
from dbsp.sql.plans.shown.spelling import INFIX, spell


@dataclass(frozen=True, slots=True)
class AsOf(Keyed):
    """Left rows, each beside the nearest in time of the right rows of its keys.

    comparison: 'greater_than_or_equal', 'greater_than', 'less_than_or_equal' or 'less_than', which the left
    time (over the left columns) must be of the right one. Of several that are equally near it is the first in
    the order of the right columns. kind: 'inner', or 'left': a row without a nearest one stays, beside NULLs.
    schema: that of `join_schema`.
    """

    left_time: Expression
    right_time: Expression
    comparison: str
    schema: Schema

    def over(self, *inputs: Plan) -> AsOf:
        left, right = inputs
        schema = join_schema(self.kind, left.schema, right.schema)
        return replace(self, left=left, right=right, schema=schema)

    def with_expressions(self, change: Change) -> AsOf:
        return replace(
            self,
            left_keys=tuple(map(change, self.left_keys)),
            right_keys=tuple(map(change, self.right_keys)),
            left_time=change(self.left_time),
            right_time=change(self.right_time),
        )

    def verify(self) -> None:
        assert self.left_time.type == self.right_time.type, at_fault(self, "types of times differ")
        check_columns(self, (self.left_time,), self.left.schema)
        check_columns(self, (self.right_time,), self.right.schema)
        self.verify_keys(("inner", "left"))

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(a ⋈ b as of) = false: a nearer row replaces the nearest"""
        return False

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(a ⋈ b as of) = key(a)"""
        return self.left.stream_key(relations)

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """never(a asof b) = never(a)"""
        return self.left.asked_for(relations)

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return {}

    def obstacle(self, growing: Set[str]) -> str | None:
        return "ASOF JOIN"

    def named(self) -> AsOf:
        return self

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(a ⋈ b as of) = need ∪ keys ∪ times"""
        width = len(self.left.schema)
        of_left = columns_in((*self.left_keys, self.left_time))
        of_right = columns_in((*self.right_keys, self.right_time))
        left, left_position = narrowed(self.left, {i for i in needed if i < width} | of_left)
        right, right_position = narrowed(self.right, {i - width for i in needed if i >= width} | of_right)
        joined = replace(
            self,
            left=left,
            right=right,
            left_keys=tuple(remap(key, left_position) for key in self.left_keys),
            right_keys=tuple(remap(key, right_position) for key in self.right_keys),
            left_time=remap(self.left_time, left_position),
            right_time=remap(self.right_time, right_position),
            schema=join_schema(self.kind, left.schema, right.schema),
        )
        return joined, joined_position(left_position, right_position, width, len(left.schema))

    @property
    def cost(self) -> str:
        return "lookup of the nearest row, and of the rows until the next, two traces"

    @property
    def spelled(self) -> str:
        left, right = self.qualified()
        keys = self.spelled_keys()
        times = f"{spell(self.left_time, left)} {INFIX[self.comparison]} {spell(self.right_time, right)}"
        on = f" on {' AND '.join(keys)}" if keys else ""
        return f"{self.kind} join with the nearest of {times}{on}"
