"""Window: functions over the rows of each partition, beside each of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from operator import attrgetter

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression, remap
from dbsp.circuits.operators.groups.windows.near import listed_of
from dbsp.circuits.progress.bounds import of_groups
from dbsp.sql.plans.calls import Change, WindowCall
from dbsp.sql.plans.families import OneInput
from dbsp.sql.plans.legal import check_columns, check_types
from dbsp.sql.plans.nodes.project import columns_in, in_other_columns, narrowed
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Field, Key, Schema
from dbsp.sql.plans.shown.spelling import spell, spell_order


@dataclass(frozen=True, slots=True)
class Window(OneInput):
    """schema: the input's columns, then one column per call. No partition: all rows are one."""

    partition: tuple[Expression, ...]
    calls: tuple[WindowCall, ...]
    schema: Schema

    @property
    def finds_sessions(self) -> bool:
        """Whether the calls are 'session_start' and 'session_end', of start and end of each row."""
        return self.calls[0].function in ("session_start", "session_end")

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Everything the partitions and the functions read."""
        return (*self.partition, *(expression for call in self.calls for expression in call.expressions))

    def with_expressions(self, change: Change) -> Window:
        calls = tuple(call.with_expressions(change) for call in self.calls)
        return replace(self, partition=tuple(map(change, self.partition)), calls=calls)

    def verify(self) -> None:
        check_columns(self, self.expressions, self.input.schema)
        check_types(self, (*self.input.schema, *self.calls), self.schema)

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(window(a)) = false: a row in between changes others' ranks"""
        return False

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(ω a) = key(a)"""
        return self.input.stream_key(relations)

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """never(ω a) = never(a)"""
        return self.input.asked_for(relations)

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        """What the keys of a partition say of its rows: those of an open hour are of that hour."""
        return of_groups(in_other_columns(self.partition, self.input), self.input.monotonic(relations))

    def obstacle(self, growing: Set[str]) -> str | None:
        return "Window"

    def named(self) -> Window:
        computed = (Field(call.function, call.type, call.nullable) for call in self.calls)
        return replace(self, schema=(*self.input.schema, *computed))

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(ω[p; f](a)) = need ∪ p ∪ columns of the kept f

        Without any function that is read it is its input.
        """
        width = len(self.input.schema)
        kept = [i for i in range(len(self.calls)) if width + i in needed]
        if not kept:
            return self.input.pruned(needed)
        calls = [self.calls[i] for i in kept]
        read = columns_in([*self.partition, *(e for call in calls for e in call.expressions)])
        below, moved = narrowed(self.input, {i for i in needed if i < width} | read)
        position = moved | {width + i: len(below.schema) + n for n, i in enumerate(kept)}
        pruned = Window(
            below,
            tuple(remap(key, moved) for key in self.partition),
            tuple(call.with_expressions(lambda e: remap(e, moved)) for call in calls),
            (*below.schema, *(self.schema[width + i] for i in kept)),
        )
        return pruned, position

    @property
    def cost(self) -> str:
        return listed_of(self.calls, attrgetter("expression"))

    @property
    def spelled(self) -> str:
        keys = ", ".join(spell(key, self.input.schema) for key in self.partition) or "nothing"
        calls = ", ".join(_spelled(call, self.input.schema) for call in self.calls)
        return f"windows by {keys}: {calls}"


# which argument of a function its number is
_NUMBERED = {"lead": 1, "nth_value": 1, "ntile": 0}


def _spelled(call: WindowCall, schema: Schema) -> str:
    name, arguments = call.function, [spell(a, schema) for a in call.arguments]
    if name in _NUMBERED:
        if name == "lead" and call.number < 0:
            name = "lag"
        arguments.insert(_NUMBERED[call.function], str(abs(call.number)))
    nulls = " IGNORE NULLS" if call.ignore_nulls else ""
    order = spell_order(call.order, schema)
    return f"{name}({', '.join(arguments)}){nulls}" + (f" ordered by {order}" if order else "")
