"""Several rows of one: by projections, or by the elements of a list or map."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression, remap
from dbsp.circuits.progress.bounds import expanded
from dbsp.sql.plans.calls import Change
from dbsp.sql.plans.expressions.nulls import kept_columns
from dbsp.sql.plans.families import OneInput
from dbsp.sql.plans.legal import at_fault, check_columns, check_types
from dbsp.sql.plans.nodes.project import ONE, TRUE, columns_in, named_columns
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Key, Schema
from dbsp.sql.plans.shown.spelling import spell


@dataclass(frozen=True, slots=True)
class Expand(OneInput):
    """For each input row one output row per projection (hopping windows, GROUPING SETS)."""

    projections: tuple[tuple[Expression, ...], ...]
    schema: Schema

    def with_expressions(self, change: Change) -> Expand:
        return replace(self, projections=tuple(tuple(map(change, row)) for row in self.projections))

    def verify(self) -> None:
        for row in self.projections:
            check_columns(self, row, self.input.schema)
            check_types(self, row, self.schema)

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(linear(a)) = append_only(a)"""
        return self.input.append_only(relations)

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        return None

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        below = self.input.never_null(relations)
        return set.intersection(*(kept_columns(row, below) for row in self.projections))

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        below = self.input.monotonic(relations)
        return expanded(self.projections, below)

    def obstacle(self, growing: Set[str]) -> str | None:
        return None

    def named(self) -> Expand:
        return replace(self, schema=named_columns(self.projections[0], self.schema, self.input.schema))

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(expand[π…](a)) = columns of the kept expressions of all π"""
        kept = sorted(needed)
        projections = [[row[i] for i in kept] or [TRUE] for row in self.projections]
        below, moved = self.input.pruned({i for row in projections for i in columns_in(row)})
        rows = tuple(tuple(remap(expression, moved) for expression in row) for row in projections)
        narrower = Expand(below, rows, tuple(self.schema[i] for i in kept) or ONE)
        return narrower, {old: new for new, old in enumerate(kept)}

    @property
    def cost(self) -> str:
        return "linear"

    @property
    def spelled(self) -> str:
        names = ", ".join(field.name for field in self.schema)
        return f"expand every row to {len(self.projections)} of ({names})"


@dataclass(frozen=True, slots=True)
class Generate(OneInput):
    """For each input row and element of a list or map, the `kept` columns, then the element.

    outer: one row of NULLs where there is no element. position: a column before the element numbers it from
    0. fields: elements that are structs are as many columns; a map's entries always are.
    """

    kept: tuple[int, ...]
    elements: Expression
    schema: Schema
    outer: bool = False
    position: bool = False
    fields: bool = False

    def with_expressions(self, change: Change) -> Generate:
        return replace(self, elements=change(self.elements))

    def verify(self) -> None:
        check_columns(self, (self.elements,), self.input.schema)
        kept = [self.input.schema[i].type for i in self.kept]
        first = [f.type for f in self.schema[: len(kept)]]
        assert first == kept, at_fault(self, "kept columns come first")

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(linear(a)) = append_only(a)"""
        return self.input.append_only(relations)

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(posexplode a) = key(a) ∪ position"""
        inner = self.input.stream_key(relations) if self.position else None
        if inner is None or not set(inner) <= set(self.kept):
            return None
        return (*(self.kept.index(column) for column in inner), len(self.kept))

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        return set()

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return {}

    def obstacle(self, growing: Set[str]) -> str | None:
        return None

    def named(self) -> Generate:
        return self

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(generate[e](a)) = the needed of what is kept ∪ columns(e)

        What was generated stays. The list isn't kept beside its elements, unless it is read.
        """
        width = len(self.kept)
        kept = [i for i in range(width) if i in needed]
        made = range(width, len(self.schema))
        below, moved = self.input.pruned({self.kept[i] for i in kept} | columns_in([self.elements]))
        pruned = replace(
            self,
            input=below,
            kept=tuple(moved[self.kept[i]] for i in kept),
            elements=remap(self.elements, moved),
            schema=tuple(self.schema[i] for i in (*kept, *made)),
        )
        return pruned, {old: new for new, old in enumerate((*kept, *made))}

    @property
    def cost(self) -> str:
        return "linear"

    @property
    def spelled(self) -> str:
        return f"{'outer ' if self.outer else ''}generate from {spell(self.elements, self.input.schema)}"
