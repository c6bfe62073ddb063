"""Heads: what lies in its group in front of the rows that are listed, of which only sums are made.

    Σ head(g) = Σ { w(i) · a(i) : i in front of the first listed row of g }, over all runs of the trace

Groups whose keys' hashes begin alike lie among each other, so that a range has rows of both: they have no
heads (`circuits/operators/groups/state/mingled.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dbsp.circuits.columns.groups import Groups
from dbsp.circuits.operators.groups.state.mingled import mingled
from dbsp.circuits.traces.layout import HIGH
from dbsp.circuits.traces.prefix_weights import PrefixWeights
from dbsp.circuits.traces.range_sums import Ranges, Summand, range_sums


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
