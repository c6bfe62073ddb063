"""Joins of two relations by keys and any further condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Self

import pyarrow as pa

from dbsp.circuits.expressions.mirror import taken
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Column, Expression, remap
from dbsp.circuits.expressions.predicates import conjuncts
from dbsp.sql.plans.calls import Change
from dbsp.sql.plans.expressions.bands import interval_bounds, value_bounds
from dbsp.sql.plans.families import TwoInputs
from dbsp.sql.plans.legal import at_fault, check_columns
from dbsp.sql.plans.nodes.filter import required
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.nodes.project import columns_in, narrowed
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Field, Key, Schema
from dbsp.sql.plans.shown.spelling import spell

JOINS = (
    "inner",  # pairs
    "left",  # pairs, and left rows beside NULLs
    "full",  # pairs, and rows of both sides beside NULLs
    "semi",  # left rows with a match
    "anti",  # left rows without one
    "existence",  # left rows, and whether they have one
)


def join_schema(kind: str, left: Schema, right: Schema) -> Schema:
    """The columns of a join of that kind: of one side or both, nullable where a side may be missing."""
    match kind:
        case "semi" | "anti":
            return left
        case "existence":
            return (*left, Field("exists", pa.bool_(), False))
        case "left":
            return (*left, *_nullable(right))
        case "full":
            return (*_nullable(left), *_nullable(right))
    return (*left, *right)


def _nullable(schema: Schema) -> Schema:
    return tuple(replace(field, nullable=True) for field in schema)


@dataclass(frozen=True, slots=True)
class Keyed(TwoInputs):
    """kind: what becomes of matching pairs, and of left and right rows without a match, of JOINS.

    left_keys[i] = right_keys[i] for every i (over the columns of their own side); null_safe[i]: NULL matches
    NULL (`<=>`).
    """

    kind: str
    left_keys: tuple[Expression, ...]
    right_keys: tuple[Expression, ...]
    null_safe: tuple[bool, ...]

    def verify_keys(self, kinds: Sequence[str]) -> None:
        """Of these kinds, with keys in pairs, and the schema that follows from both sides."""
        paired = len(self.left_keys) == len(self.right_keys) == len(self.null_safe)
        assert paired, at_fault(self, "keys come in pairs")
        for left, right in zip(self.left_keys, self.right_keys, strict=True):
            assert left.type == right.type, at_fault(self, f"key types differ: {left.type}, {right.type}")
        check_columns(self, self.left_keys, self.left.schema)
        check_columns(self, self.right_keys, self.right.schema)
        assert self.kind in kinds, at_fault(self, f"no kind of join: {self.kind}")
        expected = join_schema(self.kind, self.left.schema, self.right.schema)
        assert self.schema == expected, at_fault(self, f"schema {self.schema} instead of {expected}")

    def qualified(self) -> tuple[Schema, Schema]:
        """The columns of both sides. Names that both have say whose they are."""
        left, right = self.left.schema, self.right.schema
        both = {f.name for f in left} & {f.name for f in right}

        def named(side: str, schema: Schema) -> Schema:
            return tuple(replace(f, name=f"{side}.{f.name}" if f.name in both else f.name) for f in schema)

        return named("left", left), named("right", right)

    def spelled_keys(self) -> list[str]:
        left, right = self.qualified()
        return [
            f"{spell(a, left)} {'<=>' if safe else '='} {spell(b, right)}"
            for a, b, safe in zip(self.left_keys, self.right_keys, self.null_safe, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Conditional(Keyed):
    """residual: over left columns then right columns, or None. schema: that of `join_schema`.

    No keys and no residual: every pair matches.
    """

    residual: Expression | None
    schema: Schema

    def over(self, *inputs: Plan) -> Self:
        left, right = inputs
        schema = join_schema(self.kind, left.schema, right.schema)
        return replace(self, left=left, right=right, schema=schema)

    def with_expressions(self, change: Change) -> Self:
        return replace(
            self,
            left_keys=tuple(map(change, self.left_keys)),
            right_keys=tuple(map(change, self.right_keys)),
            residual=None if self.residual is None else change(self.residual),
        )

    def verify_keys(self, kinds: Sequence[str]) -> None:
        if self.residual is not None:
            check_columns(self, (self.residual,), (*self.left.schema, *self.right.schema))
        Keyed.verify_keys(self, kinds)


@dataclass(frozen=True, slots=True)
class Join(Conditional):
    """Pairs of rows as long as both are there, and what becomes of those without a match."""

    def verify(self) -> None:
        self.verify_keys(JOINS)

    @property
    def asks_of_nulls(self) -> bool:
        """Whether Spark computes the condition of rows with a NULL that can make none of it true."""
        return self.kind not in ("inner", "semi")

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(a ⋈ b) = append_only(a ⋉ b) = append_only(a) ∧ append_only(b)

        append_only(a ▷ b) = false, and so of outer and existence joins: a row's first match retracts it.
        """
        grows = self.kind in ("inner", "semi")
        return grows and self.left.append_only(relations) and self.right.append_only(relations)

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(a ⋈ b) = key(a) ∪ key(b), or key(a) alone where b has at most one match

        key(a ⋉ b) = key(a ▷ b) = key(a)
        """
        left, right = self.left.stream_key(relations), self.right.stream_key(relations)
        if left is None or self.kind in ("semi", "anti", "existence"):
            return left
        if right is None:
            return None
        width = len(self.left.schema)
        if self.kind == "full":
            # a left row beside NULLs and a right row beside NULLs differ where a key can't be NULL
            sides = ((self.left, left), (self.right, right))
            tells = all(any(not side.schema[column].nullable for column in key) for side, key in sides)
            return (*left, *(width + column for column in right)) if tells else None
        if is_unique(self.right_keys, right):
            return left
        if self.kind == "inner" and is_unique(self.left_keys, left):
            return tuple(width + column for column in right)
        return (*left, *(width + column for column in right))

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """never(a ⋈[x = y] b) = never(a) ∪ never(b) ∪ {x, y}, and what the residual asks for

        never(a ⋉[x = y] b) = never(a) ∪ {x}    never(a ⟕ b) = never(a ▷ b) = never(a)    never(a ⟗ b) = ∅
        """
        if self.kind == "full":
            return set()
        width, of_left = len(self.left.schema), self.left.never_null(relations)
        matched = _strict_keys(self.left_keys, self.null_safe, 0) | required(self.residual)
        if self.kind == "semi":
            return of_left | {i for i in matched if i < width}
        if self.kind != "inner":
            return of_left
        of_right = {width + i for i in self.right.never_null(relations)}
        return of_left | of_right | matched | _strict_keys(self.right_keys, self.null_safe, width)

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        if self.kind not in ("inner", "semi"):
            return {}
        left, right = self.left.monotonic(relations), self.right.monotonic(relations)
        if self.kind == "semi":
            return left
        width = len(self.left.schema)
        return {**left, **taken(right, ((width + i, i) for i in range(len(self.right.schema))))}

    def obstacle(self, growing: Set[str]) -> str | None:
        # levels are bags: a row with two matches must not become two
        semi = self.kind == "semi" and (self.residual is None or LEVEL not in growing)
        # what a left row matches is settled where the right side doesn't grow
        left = self.kind == "left" and self.residual is None and not self.right.scanned() & growing
        return None if self.kind == "inner" or semi or left else f"{self.kind.upper()} JOIN"

    def named(self) -> Join:
        return self

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(a ⋈ b) = need ∪ keys ∪ residual"""
        width = len(self.left.schema)
        one_side = self.kind in ("semi", "anti", "existence")
        of_pairs = {i for i in needed if i < width} if one_side else set(needed)
        if self.residual is not None:
            of_pairs |= columns_in([self.residual])
        of_left, of_right = columns_in(self.left_keys), columns_in(self.right_keys)
        left, left_position = narrowed(self.left, {i for i in of_pairs if i < width} | of_left)
        right, right_position = narrowed(self.right, {i - width for i in of_pairs if i >= width} | of_right)
        position = joined_position(left_position, right_position, width, len(left.schema))
        joined = replace(
            self,
            left=left,
            right=right,
            left_keys=tuple(remap(key, left_position) for key in self.left_keys),
            right_keys=tuple(remap(key, right_position) for key in self.right_keys),
            residual=None if self.residual is None else remap(self.residual, position),
            schema=join_schema(self.kind, left.schema, right.schema),
        )
        return joined, position | ({width: len(left.schema)} if self.kind == "existence" else {})

    @property
    def cost(self) -> str:
        looked_up = "changed keys" if self.left_keys else ""
        parts, width = conjuncts(self.residual), len(self.left.schema)
        sides = [value_bounds(parts, width, right, self.asks_of_nulls) for right in (False, True)]
        bounded = [side for side in sides if side is not None]
        if bounded:
            intervals = [interval_bounds(parts, width, right) for right in (False, True)]
            closed = all(
                (side.lower and side.upper) or interval
                for side, interval in zip(sides, intervals, strict=True)
                if side
            )
            looked_up = f"a {'' if closed else 'half-open '}range{' of ' if looked_up else ''}{looked_up}"
        if not looked_up:
            return "changed rows by all rows of the other side, two traces"
        return f"lookup of {looked_up}, two traces"

    @property
    def spelled(self) -> str:
        left, right = self.qualified()
        residual = [spell(self.residual, (*left, *right))] if self.residual is not None else []
        condition = " AND ".join([*self.spelled_keys(), *residual])
        return f"{self.kind} join on {condition}" if condition else f"{self.kind} join of every pair"


def joined_position(left: Position, right: Position, before: int, after: int) -> Position:
    """Of both sides' columns. before, after: how many the left has."""
    return left | {old + before: new + after for old, new in right.items()}


def is_unique(keys: tuple[Expression, ...], key: Key) -> bool:
    """Whether at most one row has given values of the join keys: the stream key is among them."""
    return key is not None and {key.index for key in keys if isinstance(key, Column)} >= set(key)


def _strict_keys(keys: Sequence[Expression], null_safe: Sequence[bool], first: int) -> set[int]:
    pairs = zip(keys, null_safe, strict=True)
    return {first + key.index for key, safe in pairs if isinstance(key, Column) and not safe}
