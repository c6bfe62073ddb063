"""The linear operators: Q(a + b) = Q(a) + Q(b), so that Q^Δ = Q.

DBSP, PVLDB 16(7), Theorem 3.3.  State: none.  Cost: O(|d|).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, validity
from dbsp.circuits.expressions.nodes import Column, Expression
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.operator import Context, Operator, Placement, Value, delta_of
from dbsp.circuits.traces.zset import ZSet

# the last column of a source whose rows' order counts, as that of a keyed table's changes does
SEQUENCE = "__sequence"


@dataclass(frozen=True)
class Source(Operator):
    """The delta of a table, as the step was given it."""

    table: str
    columns: pa.Schema

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.columns

    def placement(self, *inputs: Placement) -> Placement:
        return None


@dataclass(frozen=True)
class Constant(Operator):
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


@dataclass(frozen=True)
class Map(Operator):
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


@dataclass(frozen=True)
class Filter(Operator):
    """filter_P(d)[x] = d[x] where P(x) is true, else 0 (also where P(x) is NULL)."""

    condition: Expression

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        return delta.take(where_true(self.condition, delta.rows)) if len(delta) else delta


@dataclass(frozen=True)
class FlatMap(Operator):
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


@dataclass(frozen=True)
class Union(Operator):
    """union(a, b, …) = a + b + …  (UNION ALL)."""

    output: pa.Schema

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.output

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[0] if len(set(inputs)) == 1 else None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        return ZSet.sum(self.output, [delta_of(value) for value in inputs])


@dataclass(frozen=True)
class Negate(Operator):
    """negate(d)[x] = −d[x]."""

    def step(self, context: Context, *inputs: Value) -> ZSet:
        return -delta_of(inputs[0])


def project(rows: pa.RecordBatch, expressions: tuple[Expression, ...], output: pa.Schema) -> pa.RecordBatch:
    """The expressions' values over the rows, as a batch of schema `output`."""
    if not rows.num_rows:
        return output.empty_table().to_batches()[0] if False else _no_rows(output)
    return pa.RecordBatch.from_arrays([evaluate(e, rows) for e in expressions], schema=output)


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def where_true(condition: Expression, rows: pa.RecordBatch) -> np.ndarray:
    """int64[k]: the positions of the rows for which the condition is true."""
    held = evaluate(condition, rows)
    true = fixed_values(held)
    return np.flatnonzero(true & validity(held) if held.null_count else true)


def moved(placement: Placement, expressions: tuple[Expression, ...]) -> Placement:
    """The placement after a projection, if all its columns are still there."""
    if placement is None:
        return None
    at = {e.index: i for i, e in reversed(list(enumerate(expressions))) if isinstance(e, Column)}
    return tuple(at[i] for i in placement) if all(i in at for i in placement) else None
