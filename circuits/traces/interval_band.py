"""Interval bands: which intervals of a trace meet a given one, as BETWEEN two columns asks.

    start <= f AND end >= g        for a trace of rows with a start and an end, and f, g of a row that asks

A row's *level* is the least l with end − start <= 4^l, and its bucket start / 4^l, rounded down. What meets
g … f therefore begins in the buckets from g / 4^l − 1 to f / 4^l: of each level there is one range to look
up, with all rows that meet, and about as many that don't.

The order code of a row is its level (5 bits) and its bucket (27 bits, modulo). So the rows of a key lie
level by level, and a lookup goes from each level that there is to the next.
Cost: O(l log n) a lookup, l the levels there are of the key, and the rows met.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.expressions.vectors.numbers import Numbers, vector
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.logic.interval_codes import BUCKETS, INTERVAL_CODE, LAST_LEVEL, LEVEL_BITS
from dbsp.circuits.traces.band import Asked, Band, Ranges
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import LOW, of_placement, with_low
from dbsp.circuits.traces.sorted_run import SortedRun

_LEVEL = np.uint64(LEVEL_BITS)
_LEAST = np.iinfo(np.int64).min


@dataclass(frozen=True)
class IntervalBand(Band):
    """column: of the trace's interval codes, by which it is ordered. least, most: what an end must not be
    below, and a start above, for a row of the other side, over that side's columns.
    """

    column: int
    least: tuple[Expression, ...]
    most: tuple[Expression, ...]

    is_closed = True

    @property
    def bounds(self) -> tuple[Expression, ...]:
        return *self.least, *self.most

    def orders(self, data_type: pa.DataType) -> bool:
        return bool(data_type == INTERVAL_CODE)

    def asked(self, batch: Batch) -> Asked:
        rows = self.asking(batch)
        least, known = _bound(self.least, rows, np.maximum)
        most, too = _bound(self.most, rows, np.minimum)
        return _Intervals(batch, least, most, np.flatnonzero(known & too))


@dataclass(frozen=True)
class _Intervals(Asked):
    """least, most: int64[n], `IntervalBand.least` and `most` of row i; asking: the rows that have both."""

    batch: Batch
    least: Numbers
    most: Numbers
    asking: np.ndarray

    def matches(self, run: SortedRun) -> Ranges:
        least, most, asking = self.least, self.most, self.asking
        lows, highs = of_placement(self.batch.keys[asking])
        owners: list[np.ndarray] = [np.zeros(0, np.int64)]
        found: list[tuple[np.ndarray, np.ndarray]] = []
        while len(asking):
            start, stop = run.ranges(lows, highs)
            some = start < stop
            asking, lows, highs, start = asking[some], lows[some], highs[some], start[some]
            level = (run.keys(start) & LOW) >> _LEVEL
            owner, low, high = _of_level(least[asking], most[asking], level.astype(np.int64))
            base = with_low(highs[owner], level[owner] << _LEVEL)
            owners.append(asking[owner])
            found.append(run.ranges(base | low, base | high))
            further = level < LAST_LEVEL
            asking, highs = asking[further], highs[further]
            lows = with_low(highs, (level[further] + np.uint64(1)) << _LEVEL)
        starts, stops = (np.concatenate([np.zeros(0, np.int64), *(f[i] for f in found)]) for i in range(2))
        return np.concatenate(owners), starts, stops


def _of_level(least: Numbers, most: Numbers, level: Numbers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(i, low, high): ranges of buckets that g[i] … f[i] meets on its level, modulo their number."""
    first, last = np.maximum(least >> (2 * level), _LEAST + 1) - 1, most >> (2 * level)
    many = last.astype(np.float64) - first.astype(np.float64) >= BUCKETS
    whole = many | (level == LAST_LEVEL)
    first, last = np.where(whole, 0, first), np.where(whole, BUCKETS, last)
    some = np.flatnonzero(first <= last)
    low, high = first[some] & BUCKETS, last[some] & BUCKETS
    around = np.flatnonzero(low > high)  # the ends of a range that goes over the last bucket to the first
    owner = np.concatenate([some, some[around]])
    lows = np.concatenate([low, np.zeros(len(around), np.int64)])
    highs = np.concatenate([np.where(low > high, BUCKETS, high), high[around]])
    return owner, lows.astype(np.uint64), highs.astype(np.uint64)


def _bound(
    bounds: tuple[Expression, ...], rows: pa.RecordBatch, nearer: np.ufunc
) -> tuple[Numbers, np.ndarray]:
    """(the nearest bound int64[n], whether none is NULL bool[n])."""
    info = np.iinfo(np.int64)
    nearest = np.full(rows.num_rows, info.min if nearer is np.maximum else info.max, np.int64)
    known = np.ones(rows.num_rows, np.bool_)
    for bound in bounds:
        try:
            values = vector(evaluate(bound, rows))
        except EvaluationError:
            continue  # the condition itself is computed of pairs only: there may be none
        nearest = nearer(nearest, values.values.astype(np.int64))
        if values.valid is not None:
            known &= values.valid
    return nearest, known
