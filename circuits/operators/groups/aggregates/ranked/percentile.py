"""Percentiles of large groups, whose values are found by their rank in a trace ordered within the group.

    value(g, k) = the least x with F(g, x) > k        F(g, x) = Σ { w(i) : i of g, i.x <= x }, over all runs

What the rows of a run up to x weigh is a difference of two prefix sums, and F grows with x, so that x is
searched for (`ranks.py`). A small group is listed, and so is one whose keys' hash begins as another's does.

State: the values, ordered within the group.  Cost: O(log n) a large group, place and run, and the rows that
share one order code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import positions_of, take_values
from dbsp.circuits.operators.groups.aggregates.function import Function
from dbsp.circuits.operators.groups.aggregates.percentiles import Percentile
from dbsp.circuits.operators.groups.aggregates.ranked.ranks import RankedPlaces, Ranks
from dbsp.circuits.operators.groups.state.mingled import mingled
from dbsp.circuits.operators.groups.state.sides import Sides
from dbsp.circuits.traces.blocks.sums import Ranges
from dbsp.circuits.traces.layout import HIGH, of_placement
from dbsp.circuits.traces.trace import Integral

# a group of more rows is worth a search
_WORTH = 1024


@dataclass(frozen=True)
class RankedPercentile(Function):
    """trace: the number of the integral of values, in order."""

    trace: int
    percentile: Percentile

    def finalize(self, sides: Sides, there: np.ndarray, data_type: pa.DataType) -> pa.Array:
        parts = sides.once((RankedPercentile, self.trace), lambda: _parted(sides, self.trace))
        if parts is None:
            return self.percentile.finalize(sides.members(self.trace), data_type)
        results = [
            self.percentile.of(RankedPlaces(parts.large, self.percentile.descending), data_type),
            self.percentile.finalize(parts.small.members(self.trace), data_type),
        ]
        return take_values(pa.concat_arrays(results), positions_of(parts.places))


@dataclass(frozen=True, eq=False)
class _Parts:
    """places: where each place is, of those of the large groups and then of the small ones."""

    large: Ranks
    small: Sides
    places: np.ndarray


def _parted(sides: Sides, trace: int) -> _Parts | None:
    """None: no group is large."""
    integral, count = sides.integral(trace), sides.groups.count
    if sum(map(len, integral.after)) <= _WORTH:
        return None
    columns = sides.groups.columns
    high = integral.layout.placed(columns, count, sides.groups.seed) & HIGH
    ranges = _ranges(integral, high)
    rows = np.asarray(sum(stop - start for _, start, stop in ranges))
    (large,) = (rows > _WORTH).nonzero()
    if not len(large):
        return None
    ranges = [(run, start[large], stop[large]) for run, start, stop in ranges]
    keys = [take_values(column, positions_of(large)) for column in columns]
    alone = ~mingled(ranges, keys, high[large], tuple(range(len(columns))))
    large = large[alone]
    if not len(large):
        return None
    ranges = [(run, start[alone], stop[alone]) for run, start, stop in ranges]
    is_small = np.ones(count, dtype=np.bool_)
    is_small[large] = False
    (small,) = is_small.nonzero()
    places = np.empty((2, count), dtype=np.int64)
    places[:, large] = np.arange(2 * len(large)).reshape(2, -1)
    places[:, small] = 2 * len(large) + np.arange(2 * len(small)).reshape(2, -1)
    ranks = Ranks(ranges, len(integral.before), high[large], len(columns))
    return _Parts(ranks, sides.of_groups(small), places.ravel())


def _ranges(integral: Integral, high: np.ndarray) -> list[Ranges]:
    """Where each run of both sides has the groups."""
    return [(run, *run.ranges(*of_placement(high))) for run in integral.after]
