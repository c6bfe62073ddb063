"""What the clock changes: rows that come into view and leave it, and values that depend on NOW()."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Column, Expression, remap, substitute
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.plans.calls import Change
from dbsp.sql.plans.clock.changes import Changes, TimeBound
from dbsp.sql.plans.clock.readings import CLOCK_COLUMN
from dbsp.sql.plans.families import OneInput
from dbsp.sql.plans.legal import at_fault, check_columns, check_types
from dbsp.sql.plans.nodes.project import columns_in, named_columns, narrowed
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Field, Key, Schema
from dbsp.sql.plans.shown.spelling import spell

_NOW = Field("now()", CLOCK.type, False)
_CONDITION = "a condition on the clock"
_PASSED = "changed rows, and those that the clock passes"


@dataclass(frozen=True, slots=True)
class TemporalFilter(OneInput):
    """The rows that are visible at the step's clock, by all bounds."""

    bounds: tuple[TimeBound, ...]

    @property
    def schema(self) -> Schema:
        return self.input.schema

    def with_expressions(self, change: Change) -> TemporalFilter:
        return replace(self, bounds=tuple(replace(b, value=change(b.value)) for b in self.bounds))

    def verify(self) -> None:
        check_columns(self, (bound.value for bound in self.bounds), self.input.schema)
        check_columns(self, (bound.clock for bound in self.bounds), (_NOW,))
        same = all(bound.value.type == bound.clock.type for bound in self.bounds)
        assert same and self.bounds, at_fault(self, "a value is compared with a reading of its type")

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(a as of now) = append_only(a), where rows only ever come into view; else false"""
        return not any(b.leaves for b in self.bounds) and self.input.append_only(relations)

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(σ a) = key(a)"""
        return self.input.stream_key(relations)

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """What is compared with the clock isn't NULL."""
        compared = {b.value.index for b in self.bounds if isinstance(b.value, Column)}
        return self.input.never_null(relations) | compared

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return self.input.monotonic(relations)

    def obstacle(self, growing: Set[str]) -> str | None:
        return _CONDITION

    def forgets(self, relations: Set[str]) -> bool:
        return any(bound.leaves for bound in self.bounds) or self.input.forgets(relations)

    def named(self) -> TemporalFilter:
        return self

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(τ[f](a)) = need ∪ columns(f)"""
        below, position = narrowed(self.input, needed | columns_in(b.value for b in self.bounds))
        bounds = tuple(replace(b, value=remap(b.value, position)) for b in self.bounds)
        return TemporalFilter(below, bounds), position

    @property
    def cost(self) -> str:
        return _PASSED

    @property
    def spelled(self) -> str:
        return "filter " + " AND ".join(_spelled(bound, self.input.schema) for bound in self.bounds)


def _spelled(bound: TimeBound, schema: Schema) -> str:
    operator = (">" if bound.leaves else "<") + ("=" if bound.leaves != bound.at_once else "")
    return f"{spell(bound.value, schema)} {operator} {spell(bound.clock, (_NOW,))}"


@dataclass(frozen=True, slots=True)
class TimedProjection(OneInput):
    """The input's columns, then expressions that read the clock; of the rows for which `condition` is true.

    expressions, condition: over the input's columns, and over the step clock as the column CLOCK_COLUMN.
    """

    changes: Changes
    expressions: tuple[Expression, ...]
    condition: Expression | None
    schema: Schema

    def with_expressions(self, change: Change) -> TimedProjection:
        return replace(
            self,
            changes=self.changes.with_values(change),
            expressions=tuple(map(change, self.expressions)),
            condition=None if self.condition is None else change(self.condition),
        )

    def verify(self) -> None:
        changes = self.changes
        check_columns(self, (crossing.value for crossing in changes.crossings), self.input.schema)
        check_columns(self, (*(c.clock for c in changes.crossings), *changes.readings), (_NOW,))
        same = all(crossing.value.type == crossing.clock.type for crossing in changes.crossings)
        assert same, at_fault(self, "a value is compared with a reading of its type")
        timed = (*self.expressions, *([] if self.condition is None else [self.condition]))
        # the clock's column is -1: before the input's, which move up
        moved = (substitute(e, lambda c: replace(c, index=c.index - CLOCK_COLUMN)) for e in timed)
        check_columns(self, moved, (_NOW, *self.input.schema))
        check_types(self, (*self.input.schema, *self.expressions), self.schema)

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(phases(a)) = false: a reading of the clock changes a row"""
        return False

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(phases a) = key(a)"""
        return self.input.stream_key(relations)

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        return self.input.never_null(relations)

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return self.input.monotonic(relations)

    def obstacle(self, growing: Set[str]) -> str | None:
        return _CONDITION

    def forgets(self, relations: Set[str]) -> bool:
        return True

    def named(self) -> TimedProjection:
        below = self.input.schema
        made = named_columns(self.expressions, self.schema[len(below) :], below)
        return replace(self, schema=(*below, *made))

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(phases[f](a)) = need ∪ columns of the kept f

        Values that nobody reads are left out; what they change by may stay.
        """
        width = len(self.input.schema)
        kept = [i for i in range(len(self.expressions)) if width + i in needed]
        timed = [self.expressions[i] for i in kept] + ([] if self.condition is None else [self.condition])
        if not timed:
            return self.input.pruned(needed)
        read = columns_in([*timed, *(c.value for c in self.changes.crossings)]) - {CLOCK_COLUMN}
        below, position = narrowed(self.input, {i for i in needed if i < width} | read)
        timed_position = {**position, CLOCK_COLUMN: CLOCK_COLUMN}
        pruned = replace(
            self,
            input=below,
            changes=self.changes.with_values(lambda e: remap(e, position)),
            expressions=tuple(remap(self.expressions[i], timed_position) for i in kept),
            condition=None if self.condition is None else remap(self.condition, timed_position),
            schema=(*below.schema, *(self.schema[width + i] for i in kept)),
        )
        moved = {width + i: len(below.schema) + n for n, i in enumerate(kept)}
        return pruned, position | moved

    @property
    def cost(self) -> str:
        everything = ", ".join(str(e).replace("#0", "now()") for e in self.changes.readings)
        return _PASSED + (f", and all rows when {everything} changes" if everything else "")

    @property
    def spelled(self) -> str:
        schema = (*self.input.schema, _NOW)  # the clock's column is the last
        made = self.schema[len(self.input.schema) :]
        values = [f"{spell(e, schema)} AS {f.name}" for e, f in zip(self.expressions, made, strict=True)]
        shown = [] if self.condition is None else [f"filter {spell(self.condition, schema)}"]
        return "; ".join([*shown, *(["with " + ", ".join(values)] if values else [])])
