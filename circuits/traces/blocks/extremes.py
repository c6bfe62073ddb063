"""The greatest values in ranges of runs, of which no row is looked at but a few at either end.

    v* = max { v(i) : start <= i < stop }        w* = Σ { w(i) : v(i) = v* }

over rows of any sign: where w* > 0 a row has v*, where it is 0 they cancel each other, and the greatest value
of the others isn't known. Of each block of B rows v* and w* are made when they are first asked for, and kept
with the batch.
Cost: O(B + n / B) for a range of n rows, and once O(n) for a batch of n rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import validity
from dbsp.circuits.columns.order_codes import order_bits
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.blocks.sums import Ranges

_BLOCK = 256
_LEAST = int(np.iinfo(np.int64).min)
Extremes = tuple[np.ndarray, np.ndarray]  # the order bits of v*, and w*


@dataclass(frozen=True)
class Extreme:
    """Of a column that has `order_bits` the greatest value, or the least. A NULL is neither."""

    column: int
    least: bool

    def weighed(self, values: pa.Array, weights: np.ndarray) -> Extremes:
        """A code a row, of the extreme value the greatest, and its weight; of a NULL it is 0."""
        known, codes = validity(values), order_bits(values)
        return np.where(known, ~codes if self.least else codes, _LEAST), np.where(known, weights, 0)


def nothing(least: bool) -> int:
    """The order bits of v* where no row has a value: no value has lesser ones, or, of the least, greater."""
    return ~_LEAST if least else _LEAST


def range_extremes(ranges: Iterable[Ranges], extreme: Extreme, count: int) -> Extremes:
    """int64[count] each: over the range of that number in each of the runs."""
    parts = [(np.zeros(0, np.int64),) * 3]
    for run, start, stop in ranges:
        for batch, owner, begin, end in run.cut(start, stop):
            first, last = -(-begin // _BLOCK), end // _BLOCK
            blocks = first < last
            if blocks.any():
                of, block = expand_ranges(first[blocks], last[blocks])
                whole = batch.summary(extreme, partial(_of_blocks, batch, extreme))
                parts.append((owner[blocks][of], *(each[block] for each in whole)))
            # of ranges with whole blocks the rows before the first and behind the last, of others all
            of, row = expand_ranges(
                np.concatenate([begin, np.where(blocks, last * _BLOCK, end)]),
                np.concatenate([np.where(blocks, first * _BLOCK, end), end]),
            )
            at = batch.column_at(extreme.column, row)
            parts.append((np.tile(owner, 2)[of], *extreme.weighed(at, batch.weights_at(row))))
    owner, codes, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    greatest, total = np.full(count, _LEAST), np.zeros(count, np.int64)
    np.maximum.at(greatest, owner, codes)
    (at,) = (codes == greatest[owner]).nonzero()
    np.add.at(total, owner[at], weights[at])
    return ~greatest if extreme.least else greatest, total


def _of_blocks(batch: Batch, extreme: Extreme) -> Extremes:
    """The greatest code of each block, and what its rows weigh."""
    codes, weights = extreme.weighed(batch.column(extreme.column), batch.weights)
    starts = np.arange(0, len(batch), _BLOCK)
    greatest = np.maximum.reduceat(codes, starts)
    is_greatest = codes == greatest.repeat(_BLOCK)[: len(codes)]
    return greatest, np.add.reduceat(np.where(is_greatest, weights, 0), starts)
