"""Heads: what lies in its group in front of the rows that are listed, of which only sums are made.

    Σ head(g) = Σ { w(i) · a(i) : i in front of the first listed row of g }, over all runs of the trace

Groups whose keys' hashes begin alike lie among each other, so that a range has rows of both: they have no
heads (`circuits/operators/groups/state/mingled.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.groups import Groups
from dbsp.circuits.operators.groups.state.mingled import mingled
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
    if mingled(ranges, groups.keys, high, tuple(columns)).any():
        return None
    return Heads(len(high), ranges)
