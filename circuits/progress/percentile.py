"""Percentile waterlines: the value that p percent of the last n event times exceed.

    with x₁, x₂, … the event times in order of arrival:
    Cᵢ = the value of xᵢ₋ₙ₊₁ … xᵢ that exactly ⌈n·p/100⌉ of them come after, in order of value
    candidates of a step: Cᵢ for the i = n, n + k, n + 2k, … whose xᵢ is in it

So a waterline is the same however its rows were divided into steps. With p = 100 the candidate is the least.

State: the last n event times.  Cost: O((n + d) log (n + d)) for d event times.
Source: OctoSQL's percentile watermarks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt


@dataclass(frozen=True)
class Percentile:
    """share: p, from 0 to 100. over: n. every: k."""

    share: Decimal
    over: int
    every: int = 1

    @property
    def exceeding(self) -> int:
        """How many of the last n values come after the candidate."""
        exactly = self.over * self.share / 100
        return min(self.over - 1, int(exactly.to_integral_value("ROUND_CEILING")))


@dataclass(frozen=True)
class Recent:
    """values: the last n event times, in order of arrival. due: how many more until the next candidate."""

    values: pa.Array
    due: int

    @staticmethod
    def empty(percentile: Percentile, data_type: pa.DataType) -> Recent:
        return Recent(pa.array([], data_type), percentile.over)

    def after(self, arrived: pa.Array, percentile: Percentile) -> tuple[Recent, pa.Scalar | None]:
        """(what is recent after values that arrived in this order, the greatest candidate among them)."""
        known, count = len(self.values), len(arrived)
        values = pa.concat_arrays([self.values, arrived])
        # a copy: what is sent to tasks must not hold on to the rest
        recent = values.take(pa.array(np.arange(max(0, len(values) - percentile.over), len(values))))
        if count < self.due:
            return Recent(recent, self.due - count), None
        ends = known + np.arange(self.due, count + 1, percentile.every)
        due = percentile.every - (known + count - int(ends[-1]))
        return Recent(recent, due), _greatest(values, ends, percentile)

    def to_json(self) -> list[object]:
        data_type = self.values.type
        if pt.is_decimal(data_type):
            return [self.due, *map(str, self.values.to_pylist())]
        plain = pt.is_floating(data_type) or pt.is_integer(data_type)
        return [
            self.due,
            *(self.values if plain else self.values.view(f"int{data_type.bit_width}")).to_pylist(),
        ]

    @staticmethod
    def from_json(value: list, data_type: pa.DataType) -> Recent:  # type: ignore[type-arg]
        due, *values = value
        read = [Decimal(v) for v in values] if pt.is_decimal(data_type) else values
        return Recent(pa.array(read, data_type), due)


def from_json(value: Mapping[str, list], types: Mapping[str, pa.DataType]) -> dict[str, Recent]:  # type: ignore[type-arg]
    """Of the waterlines that the program still has."""
    return {name: Recent.from_json(recent, types[name]) for name, recent in value.items() if name in types}


def _greatest(values: pa.Array, ends: np.ndarray, percentile: Percentile) -> pa.Scalar:
    """The greatest of the candidates of the n values before each of `ends`.

    A candidate is at least v iff more than `exceeding` of its n values are: that is asked of all windows at
    once, and v found by bisection.
    """
    order = pc.sort_indices(values)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order.to_numpy()] = np.arange(len(values))
    least, beyond = 0, len(values)
    while beyond - least > 1:
        middle = (least + beyond) // 2
        above = np.concatenate(([0], np.cumsum(ranks >= middle)))
        if (above[ends] - above[ends - percentile.over]).max() > percentile.exceeding:
            least = middle
        else:
            beyond = middle
    return values[order[least].as_py()]
