"""Aggregate: one row a group."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

import pyarrow as pa

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Call, Expression, remap
from dbsp.circuits.progress.bounds import projected
from dbsp.sql.plans.calls import AggregateCall, Change
from dbsp.sql.plans.collations import is_collation_key
from dbsp.sql.plans.expressions.nulls import is_of, kept_columns
from dbsp.sql.plans.families import OneInput
from dbsp.sql.plans.legal import check_columns, check_types
from dbsp.sql.plans.nodes.project import columns_in, named_columns, narrowed
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Field, Key, Schema
from dbsp.sql.plans.shown.spelling import spell, spell_call

# one of the group's values: the last argument's, where the first is least or greatest
_LEAST = ("min", "max", "min_by", "max_by")
_COUNT = AggregateCall("count", (), pa.int64(), False)
_COUNTED = Field("count", pa.int64(), nullable=False)


def _is_least(call: AggregateCall) -> bool:
    return call.function in _LEAST and call.filter is None


@dataclass(frozen=True, slots=True)
class Aggregate(OneInput):
    """schema: the keys, then one column per aggregate. No keys: one row, always."""

    keys: tuple[Expression, ...]
    aggregates: tuple[AggregateCall, ...]
    schema: Schema

    def with_expressions(self, change: Change) -> Aggregate:
        calls = tuple(call.with_expressions(change) for call in self.aggregates)
        return replace(self, keys=tuple(map(change, self.keys)), aggregates=calls)

    def verify(self) -> None:
        columns: tuple[Expression | AggregateCall, ...] = (*self.keys, *self.aggregates)
        check_types(self, columns, self.schema)
        check_columns(self, self.keys, self.input.schema)
        for call in self.aggregates:
            check_columns(self, call.expressions, self.input.schema)

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(aggregate(a)) = false: a group's row is replaced"""
        return False

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(γ[k] a) = k, where the text that is shown of a group stands for its collation key."""
        return tuple(dict.fromkeys(map(self._told_by, range(len(self.keys)))))

    def _told_by(self, i: int) -> int:
        """The column that tells key i: a text of the group has the group's collation key."""
        key = self.keys[i]
        if isinstance(key, Call) and is_collation_key(key):
            for at, call in enumerate(self.aggregates, len(self.keys)):
                # a row whose order is NULL is none that MIN_BY takes
                is_one = _is_least(call) and not any(a.nullable for a in call.arguments[:-1])
                if is_one and call.arguments[-1:] == key.arguments:
                    return at
        return i

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """never(γ[k; f] a): the columns of never(a) that are grouped by, and the least and greatest"""
        below = self.input.never_null(relations)
        found = kept_columns(self.keys, below)
        for at, call in enumerate(self.aggregates, len(self.keys)):
            if self.keys and _is_least(call) and all(is_of(a, below) for a in call.arguments):
                found.add(at)
        return found

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return projected(self.keys, self.input.monotonic(relations))

    def obstacle(self, growing: Set[str]) -> str | None:
        return "an aggregate"

    def named(self) -> Aggregate:
        columns = (*self.keys, *self.aggregates)
        return replace(self, schema=named_columns(columns, self.schema, self.input.schema))

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(γ[k; f](a)) = keys ∪ arguments of the kept f

        Keys stay: they are what a group is. Rows are counted, where there would be no aggregate.
        """
        keys = len(self.keys)
        kept = sorted({*needed, *range(keys)})
        calls, schema = [self.aggregates[i - keys] for i in kept[keys:]], [self.schema[i] for i in kept]
        if not calls and self.aggregates:
            calls, schema = [_COUNT], [*schema, _COUNTED]
        read = columns_in(self.keys) | {i for call in calls for i in columns_in(call.expressions)}
        below, moved = narrowed(self.input, read)
        narrower = Aggregate(
            below,
            tuple(remap(key, moved) for key in self.keys),
            tuple(call.with_expressions(lambda e: remap(e, moved)) for call in calls),
            tuple(schema),
        )
        return narrower, {old: new for new, old in enumerate(kept)}

    @property
    def cost(self) -> str:
        return "touched groups"

    @property
    def spelled(self) -> str:
        keys = ", ".join(spell(key, self.input.schema) for key in self.keys) or "nothing"
        calls = ", ".join(spell_call(call, self.input.schema) for call in self.aggregates)
        return f"aggregate by {keys}: {calls}"
