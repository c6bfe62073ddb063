"""Top: the first rows of each partition."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Column, Expression, remap
from dbsp.circuits.progress.bounds import of_groups
from dbsp.sql.plans.calls import Change, SortOrder, reordered
from dbsp.sql.plans.families import OneInput
from dbsp.sql.plans.legal import at_fault, check_columns, check_types
from dbsp.sql.plans.nodes.project import columns_in, in_other_columns, narrowed
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Key, Schema
from dbsp.sql.plans.shown.spelling import spell, spell_order


@dataclass(frozen=True, slots=True)
class Top(OneInput):
    """The rows of each partition whose rank is at most `size`.

    ranking: 'row_number', 'rank' or 'dense_rank'. schema: the input's columns, then the rank if `ranked`.
    """

    partition: tuple[Expression, ...]
    order: tuple[SortOrder, ...]
    ranking: str
    size: int
    ranked: bool
    schema: Schema

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Everything the partitions and the order read."""
        return (*self.partition, *(by.expression for by in self.order))

    def with_expressions(self, change: Change) -> Top:
        partition = tuple(map(change, self.partition))
        return replace(self, partition=partition, order=reordered(self.order, change))

    def verify(self) -> None:
        check_columns(self, self.expressions, self.input.schema)
        computed = self.schema[len(self.input.schema) :]
        ranks = len(computed) == self.ranked and self.order
        assert ranks, at_fault(self, "a rank, and what it orders by")
        check_types(self, (*self.input.schema, *computed), self.schema)

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(top(a)) = false: a row in between changes others' ranks"""
        return False

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(top a) = key(a)        key(top[p; row_number; 1] a) = p"""
        columns = [key.index for key in self.partition if isinstance(key, Column)]
        first = self.ranking == "row_number" and self.size == 1
        if first and len(columns) == len(self.partition):
            return tuple(columns)
        return self.input.stream_key(relations)

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """never(top a) = never(a)"""
        return self.input.asked_for(relations)

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        """As of `Window`."""
        return of_groups(in_other_columns(self.partition, self.input), self.input.monotonic(relations))

    def obstacle(self, growing: Set[str]) -> str | None:
        return "Top"

    def named(self) -> Top:
        width = len(self.input.schema)
        computed = (replace(field, name=self.ranking) for field in self.schema[width:])
        return replace(self, schema=(*self.input.schema, *computed))

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(top[p; o](a)) = need ∪ p ∪ o"""
        width = len(self.input.schema)
        read = columns_in(self.expressions)
        below, position = narrowed(self.input, {i for i in needed if i < width} | read)
        schema = below.schema
        if self.ranked and width in needed:
            position = position | {width: len(schema)}
            schema = (*schema, self.schema[width])
        pruned = replace(
            self,
            input=below,
            partition=tuple(remap(key, position) for key in self.partition),
            order=reordered(self.order, lambda e: remap(e, position)),
            ranked=len(schema) > len(below.schema),
            schema=schema,
        )
        return pruned, position

    @property
    def cost(self) -> str:
        return f"touched partitions, the first {self.size} rows of each"

    @property
    def spelled(self) -> str:
        keys = ", ".join(spell(key, self.input.schema) for key in self.partition) or "nothing"
        order = spell_order(self.order, self.input.schema)
        return f"top {self.size} by {keys}, {self.ranking}() ordered by {order}"
