"""The touched groups on one side of a step: what the integrals hold of each, before the step or after it.

    after[g] = before[g] + delta[g]        accumulator by accumulator, and row by row

Each integral is looked up once a side, when a result first asks for it; after the step only in its delta.
Cost: O(g log |I|) for g groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, take
from dbsp.circuits.operators.groups.state.accumulators import Accumulator
from dbsp.circuits.operators.groups.state.members import Members
from dbsp.circuits.traces.trace import Integral


@dataclass(frozen=True, eq=False)
class Groups:
    """The touched groups, each once: their key columns."""

    columns: list[pa.Array]
    count: int
    seed: int


@dataclass(frozen=True, eq=False)
class Totals:
    """Of each group its weight, int64[groups], and its accumulators, int64[groups] each."""

    weights: np.ndarray
    sums: dict[Accumulator, np.ndarray]

    @staticmethod
    def zero(accumulators: Sequence[Accumulator], count: int) -> Totals:
        """Of groups without rows."""
        return Totals(np.zeros(count, np.int64), {a: np.full(count, a.zero, np.int64) for a in accumulators})

    def copy(self) -> Totals:
        return Totals(self.weights.copy(), {a: total.copy() for a, total in self.sums.items()})


class Side:
    """integrals: those of accumulators first, whose accumulators are `accumulated`. earlier: the side before
    the step; None: this is that side.
    """

    def __init__(
        self,
        groups: Groups,
        accumulated: Sequence[tuple[Accumulator, ...]],
        integrals: Sequence[Integral],
        earlier: Side | None = None,
    ) -> None:
        self.groups = groups
        self._accumulated, self._integrals, self._earlier = accumulated, integrals, earlier
        self._totals: dict[int, Totals] = {}
        self._members: dict[int, Members] = {}

    def totals(self, index: int) -> Totals:
        """What the integral of accumulators of that number holds."""
        if index not in self._totals:
            self._totals[index] = self._gather(index)
        return self._totals[index]

    def members(self, trace: int) -> Members:
        """All rows of the groups in the other integral of that number."""
        if trace not in self._members:
            self._members[trace] = self._list(trace)
        return self._members[trace]

    def integral(self, trace: int) -> Integral:
        """The other integral of that number; its `before` is what this side sees."""
        integral = self._integrals[len(self._accumulated) + trace]
        return integral if self._earlier is None else integral.stepped

    def _gather(self, index: int) -> Totals:
        integral, groups, accumulators = self._integrals[index], self.groups, self._accumulated[index]
        if self._earlier is None:
            totals = Totals.zero(accumulators, groups.count)
        else:
            totals, integral = self._earlier.totals(index).copy(), integral.changed
        layout, width = integral.layout, len(groups.columns)
        keys = layout.hashed(groups.columns, groups.count, groups.seed)
        for wanted, batch, there in integral.find(groups.columns, keys, layout.identity, whole_key=True):
            # a batch holds each identity once, so no position of `wanted` repeats
            totals.weights[wanted] += batch.weights[there]
            for column, accumulator in enumerate(accumulators, width):
                total, added = totals.sums[accumulator], fixed_values(batch.rows.column(column))[there]
                total[wanted] = accumulator.add(total[wanted], added)
        return totals

    def _list(self, trace: int) -> Members:
        integral = self._integrals[len(self._accumulated) + trace]
        groups, width = self.groups, len(self.groups.columns)
        values = list(range(width, len(integral.layout.schema)))
        schema = pa.schema([integral.layout.schema.field(i) for i in values])
        found: list[Members] = []
        if self._earlier is not None:
            found.append(self._earlier.members(trace))
            integral = integral.changed
        keys = integral.layout.placed(groups.columns, groups.count, groups.seed)
        for owner, batch, there in integral.find(groups.columns, keys, tuple(range(width)), whole_key=False):
            rows = take(batch.rows.select(values), there)
            found.append(Members(owner, rows.columns, batch.weights[there], groups.count))
        return Members.sum(schema, found, groups.count)
