"""Bands: which rows of an ordered trace a row of the other side can meet.

    low(y) <= x.c <= high(y)  ⇒  code(low(y)) <= code(x.c) <= code(high(y))        code = order_code

The rows of a key lie side by side, sorted by the code of one column. So those within bounds are a range of
sort keys. Codes are approximate: the range may have more rows than meet the condition, and never fewer. A row
within whose own two bounds a value must lie is found by its span (`spans.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import validity
from dbsp.circuits.columns.order_codes import order_code
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.traces.batch import HIGH, LOW, Batch
from dbsp.circuits.traces.sorted_run import Stretch
from dbsp.circuits.traces.spans import Span, span_ranges
from dbsp.circuits.traces.trace import Integral, expand_ranges


@dataclass(frozen=True)
class Band:
    """column: by which the trace is ordered. lower, upper: what it must not be below, or above, for a row of
    the other side, over that side's columns; a row with a NULL among them meets nothing.
    """

    column: int
    lower: tuple[Expression, ...]
    upper: tuple[Expression, ...]

    @property
    def is_closed(self) -> bool:
        """Bounded on both sides."""
        return bool(self.lower and self.upper)


def reach(batch: Batch, band: Band | None) -> tuple[np.ndarray, np.ndarray]:
    """Per row of a batch the least and the greatest sort key of what it can meet in the other side's trace.

    The batch is placed by the columns that are equal on both sides. band: of the other side's trace; None:
    all rows of the key. An empty range is (1, 0).
    """
    least, greatest = batch.keys & HIGH, batch.keys | LOW
    if band is None:
        return least, greatest
    low, below = _codes(band.lower, batch.rows, np.maximum, np.uint64(0))
    high, above = _codes(band.upper, batch.rows, np.minimum, LOW)
    some = below & above & (low <= high)
    return np.where(some, least | low, np.uint64(1)), np.where(some, least | high, np.uint64(0))


def _codes(
    bounds: Iterable[Expression], rows: pa.RecordBatch, nearer: np.ufunc, furthest: np.uint64
) -> tuple[np.ndarray, np.ndarray]:
    """(the nearest bound's code uint64[n], whether none is NULL bool[n])."""
    codes = np.full(rows.num_rows, furthest)
    known = np.ones(rows.num_rows, dtype=np.bool_)
    for bound in bounds:
        try:
            values = evaluate(bound, rows)
        except EvaluationError:
            continue  # the condition itself is computed of pairs only: there may be none
        codes = nearer(codes, order_code(values).astype(np.uint64))
        known &= validity(values)
    return codes, known


def matches(
    batch: Batch, band: Band | Span | None, stretch: Stretch
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(i, start, stop): ranges of positions in the stretch, of the other side's rows, that row i may meet."""
    if isinstance(band, Span):
        return span_ranges(batch, band, stretch)
    start, stop = stretch.ranges(*reach(batch, band))
    return np.arange(len(start)), start, stop


def near(trace: Integral, batch: Batch, band: Band | Span | None) -> Iterator[Batch]:
    """The batches of the other side's trace, up to the last step, with all that some row may meet."""
    if not isinstance(band, Span):
        yield from trace.near(*reach(batch, band))
        return
    for stretch in trace.before:
        if len(stretch.batches) == 1 or len(batch) >= len(stretch):
            yield from stretch.batches
            continue
        _, start, stop = span_ranges(batch, band, stretch)
        there = np.unique(expand_ranges(start, stop)[1])
        if len(there):
            yield stretch.take(there)
