"""Sums over ranges of runs, of which no row is looked at but a few at either end.

    Σ { w(i) · a(i) : start <= i < stop } = P(stop) − P(start)
    P(i) = S[⌊i / B⌋] + what rows of i's block add before it

S: what a batch's rows add up to before each block of B rows, made when it is first asked for and kept with
the batch. Weights are signed, so what cancels in other runs cancels in the sums.
Cost: O(B) a range and batch that it lies in, and once O(n) for a batch of n rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.sorted_run import SortedRun

_BLOCK = 256

Addends = tuple[np.ndarray, np.ndarray, np.ndarray]  # row, number of the sum, amount: int64[m] each
Ranges = tuple[SortedRun, np.ndarray, np.ndarray]  # start <= position < stop, int64[n] each


class Summand(ABC):
    """What a row adds to some sums, which have numbers. A frozen value: sums are kept by it.

    columns: of the rows, which it reads.
    """

    columns: tuple[int, ...]

    @abstractmethod
    def of(self, columns: list[pa.Array], count: int) -> Addends:
        """Of `count` rows, their weights aside."""


def range_sums(ranges: Iterable[Ranges], summand: Summand, count: int) -> Mapping[int, np.ndarray]:
    """By number of the sum, int64[count]: over the range of that number in each of the runs."""
    totals: dict[int, np.ndarray] = {}
    for run, start, stop in ranges:
        for batch, owner, begin, end in run.cut(start, stop):
            _add(totals, count, batch, owner, begin, end, summand)
    return totals


def _add(
    totals: dict[int, np.ndarray],
    count: int,
    batch: Batch,
    owner: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    summand: Summand,
) -> None:
    """Ranges of one batch, to the totals of their owners."""
    long = end - begin > _BLOCK
    if long.any():
        sums = batch.summary(summand, partial(_by_blocks, batch, summand))
        first, last = begin[long] // _BLOCK, end[long] // _BLOCK
        for each, upto in sums.items():
            total = totals.setdefault(each, np.zeros(count, np.int64))
            total[owner[long]] += upto[last] - upto[first]  # no owner has two ranges in a batch
    # the rest of blocks is looked at; what lies before a long range is taken off again
    until, since = end[long], begin[long]
    owners = np.concatenate([owner[~long], owner[long], owner[long]])
    signs = np.repeat([1, 1, -1], np.array([np.count_nonzero(~long), len(until), len(since)]))
    part, there = expand_ranges(
        np.concatenate([begin[~long], until - until % _BLOCK, since - since % _BLOCK]),
        np.concatenate([end[~long], until, since]),
    )
    if not len(there):
        return
    columns = [batch.column_at(i, there) for i in summand.columns]
    row, number, amount = summand.of(columns, len(there))
    amount = amount * (batch.weights_at(there) * signs[part])[row]
    for each in np.unique(number).tolist():
        (own,) = (number == each).nonzero()
        total = totals.setdefault(each, np.zeros(count, np.int64))
        np.add.at(total, owners[part[row[own]]], amount[own])


def _by_blocks(batch: Batch, summand: Summand) -> dict[int, np.ndarray]:
    """By number of the sum, int64[blocks + 1]: over all rows before each block."""
    row, number, amount = summand.of([batch.column(i) for i in summand.columns], len(batch))
    if not len(number):
        return {}
    least, blocks = int(number.min()), len(batch) // _BLOCK + 2
    sums = np.zeros((int(number.max()) - least + 1) * blocks, np.int64)
    np.add.at(sums, (number - least) * blocks + row // _BLOCK + 1, amount * batch.weights[row])
    upto = sums.reshape(-1, blocks).cumsum(axis=1)
    return {least + int(i): upto[i].copy() for i in np.flatnonzero(sums.reshape(-1, blocks).any(axis=1))}
