"""Retention: which rows of a trace some future input can still reach.

A reader of a trace will never again look at a row for which one of its *limits* holds:

    expression(row) < bound(W)          bound: monotone in the waterlines W, unset while one of them is

A row is collected when every reader has such a limit; NULL is never below a bound, so rows of NULL keys stay.
A reader that asks for the nearest row needs of those below the bound the last one of each key:

    expression(row) < expression(other) < bound(W) for another row of the key

which is asked of the rows that are written together, in the trace's order, so that some stay for longer.
Collecting happens where rows are written anyway, in merges, and a run whose greatest values are all below the
bound goes unread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import int64_array, is_true
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.order_codes import has_order_bits, order_bits
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.mirror import both, column_at
from dbsp.circuits.expressions.monotone import Bound, Bounds
from dbsp.circuits.expressions.nodes import Expression, columns_of
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.progress.waterline import Lateness, Waterlines
from dbsp.circuits.traces.spine import Run


@dataclass(frozen=True)
class Limit:
    """Below the least of `bounds`, a row is out of reach.

    expression: over the trace's columns. bounds: over the columns of `waterline_row`, of the same type.
    last_of: the key columns whose last row below is still needed; None: no row is. It is for traces whose
    rows are never taken back: else what is last may be on its way out.
    """

    expression: Expression
    bounds: tuple[Expression, ...]
    last_of: tuple[int, ...] | None = None

    def bound(self, row: pa.RecordBatch) -> pa.Scalar | None:
        """The least bound now; see `least_bound`."""
        return least_bound(self.bounds, row)


Limits = tuple[Limit, ...]


def of_columns(bounds: Bounds, columns: Iterable[int]) -> Limits:
    """Whole rows or groups are looked up by rows that are themselves bounded."""
    return tuple(limit(i, bounds[i]) for i in both(columns) if i in bounds)


def of_bounds(bounds: Bounds) -> Limits:
    """The same of all columns."""
    return tuple(limit(i, bound) for i, bound in bounds.items())


def of_pairs(bounds: Bounds, pairs: Iterable[tuple[int, int]]) -> Limits:
    """Rows are looked up by what is equal to bounded columns of others. pairs: (own column, the other)."""
    sides = (side for own, other in pairs for side in ((own, other), (~own, ~other)))
    return tuple(limit(own, bounds[other]) for own, other in sides if other in bounds)


def limit(key: int, bound: Bound) -> Limit:
    """Rows are looked up by a column's values alone, which are bounded. key: ~i is of column i mirrored."""
    return Limit(column_at(key, bound[0].type), bound)


@dataclass(frozen=True)
class Retention:
    """readers: per reader of the trace its limits. A row goes when each reader has one that holds."""

    readers: tuple[Limits, ...]

    @property
    def limits(self) -> Limits:
        return tuple(limit for limits in self.readers for limit in limits)

    @cached_property
    def read(self) -> frozenset[int]:
        """The trace's columns that tell which rows go."""
        of_expressions = (i for limit in self.limits for i in columns_of(limit.expression))
        return frozenset([*of_expressions, *(i for limit in self.limits for i in limit.last_of or ())])


def least_bound(bounds: Sequence[Expression], row: pa.RecordBatch) -> pa.Scalar | None:
    """row: of `waterline_row`. None while a waterline is unset (or a bound can't be computed)."""
    try:
        values = [evaluate(bound, row)[0] for bound in bounds]
    except EvaluationError:
        return None
    if any(not value.is_valid for value in values):
        return None
    least = values[0]
    for value in values[1:]:
        least = value if pc.less(value, least).as_py() else least
    return least


def waterline_row(lateness: Sequence[Lateness], waterlines: Waterlines) -> pa.RecordBatch:
    """All waterlines as one row, NULL where unset: what bounds are evaluated over."""
    columns = [
        pa.array([waterlines[one.name]], one.type) if one.name in waterlines else pa.nulls(1, one.type)
        for one in lateness
    ]
    return pa.RecordBatch.from_arrays(columns, names=[one.name for one in lateness])


def out_of_reach(
    retention: Retention, bounds: Sequence[pa.Scalar | None], rows: pa.RecordBatch
) -> np.ndarray:
    """bool[n]: the rows to collect. bounds: one per limit of the retention."""
    gone = np.ones(rows.num_rows, dtype=np.bool_)
    first = 0
    for limits in retention.readers:
        unread = np.zeros(rows.num_rows, dtype=np.bool_)
        for limit, bound in zip(limits, bounds[first : first + len(limits)], strict=True):
            if bound is not None:
                values = evaluate(limit.expression, rows)
                below = is_true(pc.less(values, bound))
                if limit.last_of is not None:
                    below = _before_last(limit, rows, values, below)
                unread |= below
        first += len(limits)
        gone &= unread
    return gone


def _before_last(limit: Limit, rows: pa.RecordBatch, values: pa.Array, below: np.ndarray) -> np.ndarray:
    """bool[n]: whether the next of the rows below is one of the same key, and later. rows: in their order."""
    assert limit.last_of is not None
    indices = np.flatnonzero(below)
    keys = [rows.column(i) for i in limit.last_of]
    later = is_true(pc.less(values.take(int64_array(indices[:-1])), values.take(int64_array(indices[1:]))))
    earlier = np.zeros(rows.num_rows, dtype=np.bool_)
    earlier[indices[:-1]] = later & equal_rows(keys, indices[:-1], keys, indices[1:])
    return earlier


def tops(retention: Retention, rows: pa.RecordBatch) -> tuple[int | None, ...]:
    """Per limit the greatest order bits of its expression; None where a NULL, the type, `last_of` forbids."""
    greatest: list[int | None] = []
    for limit in retention.limits:
        values = evaluate(limit.expression, rows)
        known = (
            has_order_bits(values.type) and not values.null_count and len(values) and limit.last_of is None
        )
        greatest.append(int(order_bits(values).max()) if known else None)
    return tuple(greatest)


def unreachable(retention: Retention, bounds: Sequence[pa.Scalar | None], run: Run) -> bool:
    """Whether no row of the run can be reached, by its chunks' tops alone."""
    return all(_all_below(retention, bounds, chunk.tops) for chunk in run.chunks)


def _all_below(
    retention: Retention, bounds: Sequence[pa.Scalar | None], greatest: tuple[int | None, ...]
) -> bool:
    if not greatest:
        return False
    below = [
        bound is not None and top is not None and top < int(order_bits(pa.array([bound], bound.type))[0])
        for bound, top in zip(bounds, greatest, strict=True)
    ]
    first = 0
    for limits in retention.readers:
        if not any(below[first : first + len(limits)]):
            return False
        first += len(limits)
    return True
