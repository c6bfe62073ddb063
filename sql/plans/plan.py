"""The typed logical plan: what Catalyst said, as our own immutable values.

Every node has a `schema`; expressions address the columns of the node's input by position (for a
`Join`, the left columns followed by the right ones), so structurally equal plans are equal values and
hash-consing is dictionary lookup.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Never

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Expression
from dbsp.sql.plans.calls import AggregateCall, Changes, SortOrder, TimeBound, WindowCall
from dbsp.sql.plans.schemas import Field, Schema


@dataclass(frozen=True, slots=True)
class Scan:
    """All columns of a table, or of a view defined earlier in the program.

    arrival: and as a last column in which order the rows of a table arrived.
    """

    relation: str
    schema: Schema
    arrival: bool = False


@dataclass(frozen=True, slots=True)
class Values:
    """A constant relation (VALUES, SELECT without FROM): one tuple of literals per row."""

    rows: tuple[tuple[Expression, ...], ...]
    schema: Schema


@dataclass(frozen=True, slots=True)
class Project:
    input: Plan
    expressions: tuple[Expression, ...]
    schema: Schema


@dataclass(frozen=True, slots=True)
class Filter:
    input: Plan
    condition: Expression

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class TemporalFilter:
    """The rows that are visible at the step's clock, by all bounds."""

    input: Plan
    bounds: tuple[TimeBound, ...]

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class TimedProjection:
    """The input's columns, then expressions that read the clock; of the rows for which `condition` is true.

    expressions, condition: over the input's columns, and over the step clock as the column CLOCK_COLUMN.
    """

    input: Plan
    changes: Changes
    expressions: tuple[Expression, ...]
    condition: Expression | None
    schema: Schema


@dataclass(frozen=True, slots=True)
class Join:
    """kind: one of JOINS. schema: that of `join_schema`.

    left_keys[i] = right_keys[i] for every i (over the columns of their own side);
    null_safe[i]: NULL matches NULL (`<=>`). residual: over left columns then right columns, or None.
    No keys and no residual: every pair matches.
    """

    left: Plan
    right: Plan
    kind: str
    left_keys: tuple[Expression, ...]
    right_keys: tuple[Expression, ...]
    null_safe: tuple[bool, ...]
    residual: Expression | None
    schema: Schema


# what becomes of matching pairs, and of left and right rows without a match:
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
class AsOf:
    """Left rows, each beside the nearest in time of the right rows of its keys; keys as in `Join`.

    comparison: 'greater_than_or_equal', 'greater_than', 'less_than_or_equal' or 'less_than', which the left
    time (over the left columns) must be of the right one. Of several that are equally near it is the first in
    the order of the right columns. kind: 'inner', or 'left': a row without a nearest one stays, beside NULLs.
    schema: that of `join_schema`.
    """

    left: Plan
    right: Plan
    kind: str
    left_keys: tuple[Expression, ...]
    right_keys: tuple[Expression, ...]
    null_safe: tuple[bool, ...]
    left_time: Expression
    right_time: Expression
    comparison: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Aggregate:
    """schema: the keys, then one column per aggregate. No keys: one row, always."""

    input: Plan
    keys: tuple[Expression, ...]
    aggregates: tuple[AggregateCall, ...]
    schema: Schema


@dataclass(frozen=True, slots=True)
class Distinct:
    input: Plan

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class Union:
    """UNION ALL; columns by position."""

    inputs: tuple[Plan, ...]
    schema: Schema


@dataclass(frozen=True, slots=True)
class SetOperation:
    """kind: 'intersect', 'except', or either followed by ' all'; columns by position."""

    left: Plan
    right: Plan
    kind: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Expand:
    """For each input row one output row per projection (hopping windows, GROUPING SETS)."""

    input: Plan
    projections: tuple[tuple[Expression, ...], ...]
    schema: Schema


@dataclass(frozen=True, slots=True)
class Generate:
    """For each input row and element of a list or map, the `kept` columns, then the element.

    outer: one row of NULLs where there is no element. position: a column before the element numbers it from
    0. fields: elements that are structs are as many columns; a map's entries always are.
    """

    input: Plan
    kept: tuple[int, ...]
    elements: Expression
    schema: Schema
    outer: bool = False
    position: bool = False
    fields: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """schema: the input's columns, then one column per call. No partition: all rows are one."""

    input: Plan
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


@dataclass(frozen=True, slots=True)
class Top:
    """The rows of each partition whose rank is at most `size`.

    ranking: 'row_number', 'rank' or 'dense_rank'. schema: the input's columns, then the rank if `ranked`.
    """

    input: Plan
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


# the relation that the recursive term of a `Levels` scans
LEVEL = "the level before"


@dataclass(frozen=True, slots=True)
class Levels:
    """WITH RECURSIVE: level 0 is `anchor`, level i + 1 is `term` over level i; all of them added up.

    The term scans the level before as LEVEL. limit: levels before it is an error that there are more.
    """

    anchor: Plan
    term: Plan
    limit: int
    schema: Schema


Plan = (
    Scan
    | Values
    | Project
    | Filter
    | TemporalFilter
    | TimedProjection
    | Join
    | AsOf
    | Aggregate
    | Distinct
    | Union
    | SetOperation
    | Expand
    | Generate
    | Window
    | Top
    | Levels
)


def unknown(plan: Never, question: str) -> AssertionError:
    """What ends each `match` over plans, for a node without a case; the type checker finds it first."""
    return AssertionError(f"{type(plan).__name__}: nothing says {question}")
