"""Heads: what lies in its group in front of the rows that are listed: of it only sums and extremes are made.

    Σ head(g) = Σ { w(i) · a(i) : i in front of the first listed row of g }, over all runs of the trace
    max head(g) = max { v(i) : i in front of it, and there }, where the trace tells it

Groups whose keys' hashes begin alike lie among each other, so that a range has rows of both: they have no
heads (`circuits/operators/groups/state/mingled.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dbsp.circuits.columns.arrow import every
from dbsp.circuits.columns.groups import Groups
from dbsp.circuits.operators.groups.state.mingled import mingled
from dbsp.circuits.traces.blocks.extremes import Extreme, Extremes, nothing, range_extremes
from dbsp.circuits.traces.blocks.sums import Ranges, Summand, range_sums
from dbsp.circuits.traces.blocks.weights import PrefixWeights
from dbsp.circuits.traces.layout import HIGH


@dataclass(frozen=True, eq=False)
class Heads:
    """count: of groups. ranges: where each run has the head of each."""

    count: int
    ranges: list[Ranges]
    _sums: dict[Summand, Mapping[int, np.ndarray]] = field(default_factory=dict)
    _extremes: dict[Extreme, Extremes] = field(default_factory=dict)

    def sums(self, summand: Summand) -> Mapping[int, np.ndarray]:
        """By number of the sum, int64[count]."""
        if summand not in self._sums:
            self._sums[summand] = range_sums(self.ranges, summand, self.count)
        return self._sums[summand]

    def extreme(self, extreme: Extreme) -> Extremes:
        """(its order bits, what rows with it weigh) int64[count] each."""
        if extreme not in self._extremes:
            self._extremes[extreme] = range_extremes(self.ranges, extreme, self.count)
        return self._extremes[extreme]

    def tells(self, extreme: Extreme) -> bool:
        """Whether every head's extreme is known: none of them was retracted."""
        codes, weights = self.extreme(extreme)
        return every((weights > 0) | (codes == nothing(extreme.least)))

    @cached_property
    def rows(self) -> np.ndarray:
        """int64[count]: copies counted."""
        rows = np.zeros(self.count, np.int64)
        for run, start, stop in self.ranges:
            rows += PrefixWeights(run, start, stop).between(start, stop)
        return rows


def heads_of(ranges: list[Ranges], groups: Groups, columns: Sequence[int]) -> Heads | None:
    """None: in one of the ranges, of as many groups, rows of another group lie. columns: the groups' keys."""
    high = groups.hashes & HIGH
    if mingled(ranges, groups.keys, high, tuple(columns)).any():
        return None
    return Heads(len(high), ranges)
