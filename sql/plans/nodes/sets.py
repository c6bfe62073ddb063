"""DISTINCT, UNION ALL, INTERSECT and EXCEPT: relations by whole rows."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.progress.bounds import union
from dbsp.sql.plans.calls import Change
from dbsp.sql.plans.families import OneInput, TwoInputs
from dbsp.sql.plans.legal import check_types
from dbsp.sql.plans.nodes.project import ONE, exactly, narrowed
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Key, Schema


@dataclass(frozen=True, slots=True)
class Distinct(OneInput):
    """Each row once."""

    @property
    def schema(self) -> Schema:
        return self.input.schema

    def with_expressions(self, change: Change) -> Distinct:
        return self

    def verify(self) -> None:
        """There is nothing to it."""

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(distinct(a)) = append_only(a)"""
        return self.input.append_only(relations)

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(distinct a) = key(a), or else all columns"""
        inner = self.input.stream_key(relations)
        return tuple(range(len(self.schema))) if inner is None else inner

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        return self.input.never_null(relations)

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return self.input.monotonic(relations)

    def obstacle(self, growing: Set[str]) -> str | None:
        return None

    def named(self) -> Distinct:
        return self

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(distinct(a)) = all: all columns make a row distinct"""
        below, position = narrowed(self.input, all_of(self.schema))
        return Distinct(below), position

    @property
    def cost(self) -> str:
        return "lookup of changed rows, one trace"

    @property
    def spelled(self) -> str:
        return "distinct"


@dataclass(frozen=True, slots=True)
class Union(Plan):
    """UNION ALL; columns by position."""

    parts: tuple[Plan, ...]
    schema: Schema

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return self.parts

    def over(self, *inputs: Plan) -> Union:
        return replace(self, parts=inputs)

    def with_expressions(self, change: Change) -> Union:
        return self

    def verify(self) -> None:
        for part in self.parts:
            check_types(self, part.schema, self.schema)

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(linear(a)) = append_only(a)"""
        return all(part.append_only(relations) for part in self.parts)

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        return None

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """never(a + b) = never(a) ∩ never(b)"""
        return set.intersection(*(set(part.never_null(relations)) for part in self.parts))

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return union([part.monotonic(relations) for part in self.parts])

    def obstacle(self, growing: Set[str]) -> str | None:
        return None

    def named(self) -> Union:
        return replace(self, schema=named_as(self.parts[0].schema, self.schema))

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(a ∪ b) = need, in each"""
        if not needed and all(0 in part.pruned(needed)[1] for part in self.parts):
            needed = {0}
        kept = sorted(needed)
        parts = tuple(exactly(part, needed) for part in self.parts)
        narrower = Union(parts, tuple(self.schema[i] for i in kept) or ONE)
        return narrower, {old: new for new, old in enumerate(kept)}

    @property
    def cost(self) -> str:
        return "linear"

    @property
    def spelled(self) -> str:
        return "union all"


@dataclass(frozen=True, slots=True)
class SetOperation(TwoInputs):
    """kind: 'intersect', 'except', or either followed by ' all'; columns by position."""

    kind: str
    schema: Schema

    def with_expressions(self, change: Change) -> SetOperation:
        return self

    def verify(self) -> None:
        for input_ in self.inputs:
            check_types(self, input_.schema, self.schema)

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(a ∩ b) = append_only(a) ∧ append_only(b)

        append_only(a − b) = false: a row is taken from an EXCEPT when it comes to be on the right.
        """
        grows = self.kind.startswith("intersect")
        return grows and self.left.append_only(relations) and self.right.append_only(relations)

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """A row of the output is one of the left, and of an INTERSECT one of the right."""
        inner = self.left.stream_key(relations)
        if inner is None and self.kind.startswith("intersect"):
            inner = self.right.stream_key(relations)
        if inner is None and not self.kind.endswith(" all"):
            return tuple(range(len(self.schema)))
        return inner

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """never(a ∩ b) = never(a) ∪ never(b)        never(a − b) = never(a)"""
        of_left = self.left.never_null(relations)
        return of_left | self.right.never_null(relations) if self.kind.startswith("intersect") else of_left

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return {}

    def obstacle(self, growing: Set[str]) -> str | None:
        return "SetOperation"

    def named(self) -> SetOperation:
        return replace(self, schema=named_as(self.left.schema, self.schema))

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(a ∩ b) = need(a − b) = all"""
        everything = all_of(self.schema)
        left, right = (exactly(side, everything) for side in self.inputs)
        return replace(self, left=left, right=right), {i: i for i in everything}

    @property
    def cost(self) -> str:
        return "lookup of changed rows, two traces"

    @property
    def spelled(self) -> str:
        return self.kind


def named_as(first: Schema, schema: Schema) -> Schema:
    """The columns under other ones' names."""
    return tuple(replace(field, name=other.name) for other, field in zip(first, schema, strict=True))


def all_of(schema: Schema) -> set[int]:
    return set(range(len(schema)))
