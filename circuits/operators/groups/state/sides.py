"""The touched groups on both sides of a step: what the integrals hold of each, before the step and after it.

    after[g] = before[g] + delta[g]        accumulator by accumulator, and row by row

A group on one side is a *place*: of n groups, place g is group g before the step, and n + g is it after the
step. So each integral is looked up once, and a function is evaluated once, for both sides.
Cost: O(g log |I|) for g groups.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, positions_of, take, take_values
from dbsp.circuits.operators.groups.state.accumulators import Accumulator
from dbsp.circuits.operators.groups.state.members import Members
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.trace import Integral

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Groups:
    """The touched groups, each once: their key columns. delta: of an integral of accumulators, if its rows
    are the groups, in order: then nothing is hashed, or looked up, to find a group in it.
    """

    columns: list[pa.Array]
    count: int
    seed: int
    delta: Batch | None = None


@dataclass(frozen=True, eq=False)
class Totals:
    """Of each place its weight, int64[places], and its accumulators, int64[places] each."""

    weights: np.ndarray
    sums: dict[Accumulator, np.ndarray]

    @staticmethod
    def zero(accumulators: Sequence[Accumulator], count: int) -> Totals:
        """Of groups without rows."""
        return Totals(np.zeros(count, np.int64), {a: np.full(count, a.zero, np.int64) for a in accumulators})

    def add(self, at: np.ndarray, batch: Batch, there: np.ndarray, width: int) -> None:
        """To these places rows of a batch: `width` key columns, then accumulators."""
        np.add.at(self.weights, at, batch.weights[there])
        for column, (accumulator, total) in enumerate(self.sums.items(), width):
            accumulator.add.at(total, at, fixed_values(batch.column(column))[there])

    def add_all(self, first: int, batch: Batch, width: int) -> None:
        """To the places from `first` on, the rows of a batch one by one."""
        self.weights[first:] += batch.weights
        for column, (accumulator, total) in enumerate(self.sums.items(), width):
            total[first:] = accumulator.add(total[first:], fixed_values(batch.column(column)))

    def repeat(self, count: int) -> None:
        """The places from `count` on are as the first `count`."""
        for total in (self.weights, *self.sums.values()):
            total[count:] = total[:count]


class Sides:
    """integrals: those of accumulators first, whose accumulators are `accumulated`."""

    def __init__(
        self,
        groups: Groups,
        accumulated: Sequence[tuple[Accumulator, ...]],
        integrals: Sequence[Integral],
    ) -> None:
        self.groups = groups
        self._accumulated, self._integrals = accumulated, integrals
        self._totals: dict[int, Totals] = {}
        self._members: dict[int, Members] = {}
        self._made: dict[Hashable, Any] = {}

    def totals(self, index: int) -> Totals:
        """What the integral of accumulators of that number holds."""
        if index not in self._totals:
            self._totals[index] = self._gather(index)
        return self._totals[index]

    def members(self, trace: int) -> Members:
        """All rows of the places in the other integral of that number."""
        if trace not in self._members:
            self._members[trace] = self._list(trace)
        return self._members[trace]

    def once(self, name: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` makes, for several functions to share."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]  # type: ignore[no-any-return]

    def of_groups(self, positions: np.ndarray) -> Sides:
        """The sides of these groups alone."""
        columns = [take_values(column, positions_of(positions)) for column in self.groups.columns]
        groups = Groups(columns, len(positions), self.groups.seed)
        return Sides(groups, self._accumulated, self._integrals)

    def integral(self, trace: int) -> Integral:
        """The other integral of that number."""
        return self._integrals[len(self._accumulated) + trace]

    def of_integral(self, trace: int, result: Callable[[Integral], pa.Array]) -> pa.Array:
        """What `result` makes of the other integral of that number: of each group, from its `before`."""
        integral = self.integral(trace)
        return pa.concat_arrays([result(integral), result(integral.stepped)])

    def _gather(self, index: int) -> Totals:
        integral, groups = self._integrals[index], self.groups
        layout, columns, count = integral.layout, groups.columns, groups.count
        totals = Totals.zero(self._accumulated[index], 2 * count)
        aligned = integral.delta is groups.delta
        keys = integral.delta.keys if aligned else layout.hashed(columns, count, groups.seed)
        for wanted, batch, there in integral.find(columns, keys, layout.identity, whole_key=True):
            totals.add(wanted, batch, there, len(columns))
        totals.repeat(count)
        if aligned:
            totals.add_all(count, integral.delta, len(columns))
            return totals
        for wanted, batch, there in integral.changed.find(columns, keys, layout.identity, whole_key=True):
            totals.add(count + wanted, batch, there, len(columns))
        return totals

    def _list(self, trace: int) -> Members:
        integral = self.integral(trace)
        groups, width = self.groups, len(self.groups.columns)
        values = list(range(width, len(integral.layout.schema)))
        schema = pa.schema([integral.layout.schema.field(i) for i in values])
        keys = integral.layout.placed(groups.columns, groups.count, groups.seed)

        def found(where: Integral) -> list[tuple[np.ndarray, list[pa.Array], np.ndarray]]:
            return [
                (owner, take(batch.rows.select(values), there).columns, batch.weights[there])
                for owner, batch, there in where.find(
                    groups.columns, keys, tuple(range(width)), whole_key=False
                )
            ]

        count, held = groups.count, found(integral)
        after = [
            (count + owner, columns, weights) for owner, columns, weights in (*held, *found(integral.changed))
        ]
        return Members.sum(schema, [Members(*part, 2 * count) for part in (*held, *after)], 2 * count)
