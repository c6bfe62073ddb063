"""The linear operators: Q(a + b) = Q(a) + Q(b), so that Q^Δ = Q.

DBSP, PVLDB 16(7), Theorem 3.3.  State: none.  Cost: O(|d|).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import empty, is_true
from dbsp.circuits.expressions.inverse import solved
from dbsp.circuits.expressions.monotone import Bounds, bound_of
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, columns_of
from dbsp.circuits.expressions.predicates import comparisons
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.families import Changes, RowWise, Unchanged
from dbsp.circuits.operators.legal import has_columns, makes, same_types
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value, delta_of
from dbsp.circuits.progress.bounds import NO_MORE, Lines, alternate, expanded, projected, union
from dbsp.circuits.traces.zset import WEIGHT, ZSet

# the last column of a source whose rows' order counts, as that of a keyed table's changes does
SEQUENCE = "__sequence"


@dataclass(frozen=True)
class Source(Changes):
    """The delta of a table, as the step was given it."""

    table: str
    columns: pa.Schema

    @property
    def is_numbered(self) -> bool:
        """Whether its rows' order counts."""
        return bool(self.columns.names[-1] == SEQUENCE)

    @cached_property
    def given(self) -> pa.Schema:
        """The columns of what a step is given: without the order, and with weights."""
        fields = [*self.columns][: len(self.columns) - self.is_numbered]
        return pa.schema([*fields, pa.field(WEIGHT, pa.int64(), nullable=False)])

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.columns

    def placement(self, *inputs: Placement) -> Placement:
        return None

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A row may have any value."""
        return {}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """A table has what it is given."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return True

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        """What was declared of the table is the program's to say."""
        return ""


@dataclass(frozen=True)
class Constant(Changes):
    """A relation that never changes: its rows enter at the first step."""

    rows: pa.RecordBatch

    def __hash__(self) -> int:
        return hash(self.rows.serialize().to_pybytes())

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.rows.schema

    def placement(self, *inputs: Placement) -> Placement:
        return None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        if context.first and context.owns_empty_key:
            return ZSet(self.rows, np.ones(self.rows.num_rows, dtype=np.int64))
        return ZSet.empty(self.rows.schema)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Its rows enter at the first step, and none after."""
        return NO_MORE

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        return ("constants",)

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return False


@dataclass(frozen=True)
class Map(RowWise):
    """map_f(d)[y] = Σ { d[x] : f(x) = y }, f a tuple of expressions."""

    expressions: tuple[Expression, ...]
    output: pa.Schema

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.output

    def placement(self, *inputs: Placement) -> Placement:
        return moved(inputs[0], self.expressions)

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        return ZSet(project(delta.rows, self.expressions, self.output), delta.weights)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        makes(self.expressions, node, inputs[0], where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A column that is a monotone function of a bounded one is bounded by the function of the bound."""
        return projected(self.expressions, inputs[0])

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        source = only_column(self.expressions[column])
        return None if source is None else (0, source)

    def computed_by(self, column: int) -> Sequence[Expression] | None:
        return (self.expressions[column],)

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return {column for e in self.expressions for column in columns_of(e)}


@dataclass(frozen=True)
class Filter(Unchanged, RowWise):
    """filter_P(d)[x] = d[x] where P(x) is true, else 0 (also where P(x) is NULL)."""

    condition: Expression

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        if not len(delta):
            return delta
        kept = where_true(self.condition, delta.rows)
        return delta if len(kept) == len(delta) else delta.take(kept)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        has_columns(self.condition, inputs[0], where)
        assert self.condition.type == "bool", f"{where}: condition is not boolean"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Rows that pass satisfy the condition: `g(column) >= f(row)` bounds a column without a bound."""
        found = dict(inputs[0])
        for greater, lesser in comparisons(self.condition):
            bound = bound_of(lesser, inputs[0])
            solution = None if bound is None else solved(greater, bound)
            if solution is not None:
                found.setdefault(*solution)
        return found

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return {*columns_of(self.condition), *needed}


@dataclass(frozen=True)
class FlatMap(RowWise):
    """flat_map_{f₁…fₖ}(d) = Σᵢ map_{fᵢ}(d): each row gives k rows (hopping windows, GROUPING SETS)."""

    projections: tuple[tuple[Expression, ...], ...]
    output: pa.Schema

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.output

    def placement(self, *inputs: Placement) -> Placement:
        places = {moved(inputs[0], projection) for projection in self.projections}
        return places.pop() if len(places) == 1 else None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        parts = [ZSet(project(delta.rows, p, self.output), delta.weights) for p in self.projections]
        return ZSet.sum(self.output, parts)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        for projection in self.projections:
            makes(projection, node, inputs[0], where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Each output row comes from one of the projections: bounded by the least of theirs."""
        return expanded(self.projections, inputs[0])

    def alternates(self, inputs: Sequence[Bounds]) -> bool:
        """Whether some bounded column is NULL in other projections."""
        return alternate(self.projections, inputs[0])

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        made = [projection[column] for projection in self.projections]
        sources = {only_column(e) for e in made if not isinstance(e, Literal)}
        source = sources.pop() if len(sources) == 1 else None
        return None if source is None else (0, source)

    def computed_by(self, column: int) -> Sequence[Expression] | None:
        made = [projection[column] for projection in self.projections]
        return [e for e in made if not isinstance(e, Literal)]

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return {column for p in self.projections for e in p for column in columns_of(e)}


@dataclass(frozen=True)
class Union(RowWise):
    """union(a, b, …) = a + b + …  (UNION ALL)."""

    output: pa.Schema

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.output

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[0] if len(set(inputs)) == 1 else None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        return ZSet.sum(self.output, [delta_of(value) for value in inputs])

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        same_types(node, inputs, where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return union(inputs)

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if len(inputs) == 1 else None


@dataclass(frozen=True)
class Negate(Unchanged, RowWise):
    """negate(d)[x] = −d[x]."""

    def step(self, context: Context, *inputs: Value) -> ZSet:
        return -delta_of(inputs[0])

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return needed

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return True


def only_column(expression: Expression) -> int | None:
    """The one column an expression is a function of: it takes no more values than the column does."""
    if isinstance(expression, Column):
        return expression.index
    if not isinstance(expression, Call):
        return None
    made_of = [argument for argument in expression.arguments if isinstance(argument, Column | Call)]
    columns = {only_column(argument) for argument in made_of}
    return columns.pop() if len(columns) == 1 else None


def project(rows: pa.RecordBatch, expressions: tuple[Expression, ...], output: pa.Schema) -> pa.RecordBatch:
    """The expressions' values over the rows, as a batch of schema `output`."""
    if not rows.num_rows:
        return empty(output)
    return pa.RecordBatch.from_arrays([evaluate(e, rows) for e in expressions], schema=output)


def where_true(condition: Expression, rows: pa.RecordBatch) -> np.ndarray:
    """int64[k]: the positions of the rows for which the condition is true."""
    return is_true(evaluate(condition, rows)).nonzero()[0]


def moved(placement: Placement, expressions: tuple[Expression, ...]) -> Placement:
    """The placement after a projection, if all its columns are still there."""
    if placement is None:
        return None
    place = {e.index: i for i, e in reversed(list(enumerate(expressions))) if isinstance(e, Column)}
    return tuple(place[i] for i in placement) if all(i in place for i in placement) else None
