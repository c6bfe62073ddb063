"""Heads: what lies in its group in front of the rows that are listed, of which only sums are made.

    Σ head(g) = Σ { w(i) · a(i) : i in front of the first listed row of g }, over all runs of the trace

Groups whose keys' hashes begin alike lie among each other, so that a range has rows of both. A batch knows
which do (`_shared`), and the first row of a range says whose the others are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import every
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.groups import Groups
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import HIGH
from dbsp.circuits.traces.range_sums import Addends, Ranges, Summand, range_sums


@dataclass(frozen=True, eq=False)
class Heads:
    """count: of groups. ranges: where each run has the head of each."""

    count: int
    ranges: list[Ranges]
    _sums: dict[Summand, Mapping[int, np.ndarray]] = field(default_factory=dict)

    def sums(self, summand: Summand) -> Mapping[int, np.ndarray]:
        """By number of the sum, int64[count]."""
        if summand not in self._sums:
            self._sums[summand] = range_sums(self.ranges, summand, self.count)
        return self._sums[summand]

    @property
    def rows(self) -> np.ndarray:
        """int64[count]: copies counted."""
        return self.sums(Rows()).get(0, np.zeros(self.count, np.int64))


@dataclass(frozen=True)
class Rows(Summand):
    """Each row is one."""

    columns: tuple[int, ...] = ()

    def of(self, columns: list[pa.Array], count: int) -> Addends:
        return np.arange(count), np.zeros(count, np.int64), np.ones(count, np.int64)


def heads_of(ranges: list[Ranges], groups: Groups, columns: Sequence[int]) -> Heads | None:
    """None: in one of the ranges, of as many groups, rows of another group lie. columns: the groups' keys."""
    high = groups.hashes & HIGH
    for run, start, stop in ranges:
        for batch, owner, begin, _ in run.cut(start, stop):
            first = [batch.column_at(i, begin) for i in columns]
            if not every(equal_rows(groups.keys, owner, first, np.arange(len(owner)))):
                return None
            if np.isin(high[owner], _shared(batch, tuple(columns))).any():
                return None
    return Heads(len(high), ranges)


def _shared(batch: Batch, columns: tuple[int, ...]) -> np.ndarray:
    """The high halves of sort keys that rows of several groups have in the batch."""
    known = batch.sums.get(columns)
    if known is None:
        high = batch.keys & HIGH
        (alike,) = (high[1:] == high[:-1]).nonzero()
        keys = [batch.column(i) for i in columns]
        known = batch.sums[columns] = np.unique(high[alike[~equal_rows(keys, alike, keys, alike + 1)]])
    return np.asarray(known)
