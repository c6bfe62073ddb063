"""Filter: the rows for which a condition is true."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

import pyarrow as pa

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Call, Column, Expression, columns_of, remap
from dbsp.circuits.expressions.predicates import FLIPPED, comparisons, conjuncts
from dbsp.sql.plans.calls import Change
from dbsp.sql.plans.families import OneInput
from dbsp.sql.plans.legal import at_fault, check_columns
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Key, Schema
from dbsp.sql.plans.shown.spelling import spell


@dataclass(frozen=True, slots=True)
class Filter(OneInput):
    condition: Expression

    @property
    def schema(self) -> Schema:
        return self.input.schema

    def with_expressions(self, change: Change) -> Filter:
        return replace(self, condition=change(self.condition))

    def verify(self) -> None:
        check_columns(self, (self.condition,), self.input.schema)
        assert self.condition.type in (pa.bool_(), pa.null()), at_fault(self, "a condition is boolean")

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(linear(a)) = append_only(a)"""
        return self.input.append_only(relations)

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(σ a) = key(a)"""
        return self.input.stream_key(relations)

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """never(σ[c] a) = never(a) ∪ {x : c has a conjunct that is not true where x is NULL}"""
        return self.input.never_null(relations) | required(self.condition)

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return self.input.monotonic(relations)

    def obstacle(self, growing: Set[str]) -> str | None:
        return None

    def named(self) -> Filter:
        return self

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(σ[c](a)) = need ∪ columns(c)"""
        below, position = self.input.pruned(needed | set(columns_of(self.condition)))
        return Filter(below, remap(self.condition, position)), position

    @property
    def cost(self) -> str:
        return "linear"

    @property
    def spelled(self) -> str:
        return "filter " + spell(self.condition, self.input.schema)


# a NULL argument makes them NULL
_STRICT = {"equal_to", *FLIPPED, "not", "cast", "add", "subtract", "multiply", "unary_minus"}


def required(condition: Expression | None) -> set[int]:
    """The columns without which the condition isn't true."""
    found = {e.index for pair in comparisons(condition) for e in pair if isinstance(e, Column)}
    return found.union(*map(_asked, conjuncts(condition)))


def _asked(part: Expression) -> set[int]:
    if isinstance(part, Call) and part.function == "is_not_null":
        return _needed(part.arguments[0])
    return _needed(part)


def _needed(expression: Expression) -> set[int]:
    """The columns without which it is NULL."""
    if isinstance(expression, Column):
        return {expression.index}
    if not isinstance(expression, Call) or expression.function not in _STRICT:
        return set()
    return {index for argument in expression.arguments for index in _needed(argument)}
