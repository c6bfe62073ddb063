"""Retention: which rows of a trace some future input can still reach.

A reader of a trace will never again look at a row for which one of its *limits* holds:

    expression(row) < bound(W)          bound: monotone in the waterlines W, unset while one of them is

A row is collected when every reader has such a limit; NULL is never below a bound, so rows of NULL keys stay.
Collecting happens where rows are written anyway, in merges, and a run whose greatest values are all below the
bound goes unread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from circuits.errors import EvaluationError
from circuits.expressions.evaluate import evaluate
from circuits.expressions.nodes import Expression
from circuits.ordering import has_order_bits, order_bits
from circuits.spine import Run
from circuits.waterline import Lateness, Waterlines


@dataclass(frozen=True)
class Limit:
    """Below the least of `bounds`, a row is out of reach.

    expression: over the trace's columns. bounds: over the columns of `waterline_row`, of the same type.
    """

    expression: Expression
    bounds: tuple[Expression, ...]

    def bound(self, row: pa.RecordBatch) -> pa.Scalar | None:
        """The least bound now; see `least_bound`."""
        return least_bound(self.bounds, row)


@dataclass(frozen=True)
class Retention:
    """readers: per reader of the trace its limits. A row goes when each reader has one that holds."""

    readers: tuple[tuple[Limit, ...], ...]

    @property
    def limits(self) -> tuple[Limit, ...]:
        return tuple(limit for limits in self.readers for limit in limits)


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
    at = 0
    for limits in retention.readers:
        unread = np.zeros(rows.num_rows, dtype=np.bool_)
        for limit, bound in zip(limits, bounds[at : at + len(limits)], strict=True):
            if bound is not None:
                below = pc.fill_null(pc.less(evaluate(limit.expression, rows), bound), False)
                unread |= np.asarray(below.to_numpy(zero_copy_only=False), dtype=np.bool_)
        at += len(limits)
        gone &= unread
    return gone


def tops(retention: Retention, rows: pa.RecordBatch) -> tuple[int | None, ...]:
    """Per limit the greatest order bits of its expression; None where a NULL, or the type, forbids it."""
    greatest: list[int | None] = []
    for limit in retention.limits:
        values = evaluate(limit.expression, rows)
        known = has_order_bits(values.type) and not values.null_count and len(values)
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
    at = 0
    for limits in retention.readers:
        if not any(below[at : at + len(limits)]):
            return False
        at += len(limits)
    return True
