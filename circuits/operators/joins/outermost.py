"""The outermost rows of groups: the last or first few of each, from a trace ordered within the group.

The rows of a group lie side by side in each run, sorted by an order code. So the outermost rows of the group
are among the outermost rows of its runs: a few are fetched of each, and those beyond the *horizon* (the
nearest code of which some run may hold more) are complete. If they don't decide, more are fetched.
Cost: O(log n) a group and run, as long as the outermost rows decide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import LOW
from dbsp.circuits.traces.sorted_run import SortedRun


@dataclass(frozen=True, eq=False)
class Outermost:
    """parts: (group, row) pairs, run by run. horizon: int64 per group; rows of strictly outer codes are
    complete. greatest: whether outer means greater.
    """

    parts: list[tuple[np.ndarray, Batch]]
    horizon: np.ndarray
    greatest: bool

    @property
    def everything(self) -> np.ndarray:
        """bool per group: all its rows were fetched."""
        return np.asarray((self.horizon == -1) | (self.horizon == 1 << 32))

    def is_complete(self, group: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """bool[n]: whether all rows of a group's code were fetched."""
        horizon = self.horizon[group]
        return np.asarray(codes > horizon if self.greatest else codes < horizon)


def outermost(
    runs: tuple[SortedRun, ...],
    keys: list[pa.Array],
    groups: np.ndarray,
    least: np.ndarray,
    most: np.ndarray,
    columns: tuple[int, ...],
    greatest: bool,
    count: int,
) -> Outermost:
    """The outermost `count` rows of each group in each run, of those with least[i] <= sort key <= most[i].

    groups: positions into `keys`. columns: where the keys are in a batch. The groups of the result are
    numbered as `groups` lists them.
    """
    horizon = np.full(len(groups), -1 if greatest else 1 << 32, dtype=np.int64)
    parts = []
    for run in runs:
        start, stop = run.ranges(least, most)
        if (start == stop).all():
            continue
        cut = np.maximum(start, stop - count) if greatest else np.minimum(stop, start + count)
        partial = np.flatnonzero(cut > start if greatest else cut < stop)
        edge = run.keys(cut[partial] if greatest else cut[partial] - 1) & LOW
        nearer = np.maximum if greatest else np.minimum
        horizon[partial] = nearer(horizon[partial], edge.astype(np.int64))
        owner, there = expand_ranges(cut, stop) if greatest else expand_ranges(start, cut)
        batch = run.take(there)
        own = [batch.rows.column(i) for i in columns]
        same = np.flatnonzero(equal_rows(keys, groups[owner], own, np.arange(len(batch))))
        parts.append((owner, batch) if len(same) == len(owner) else (owner[same], batch.take(same)))
    return Outermost(parts, horizon, greatest)


def codes_of(batch: Batch) -> np.ndarray:
    """int64[n]: each row's order code."""
    return (batch.keys & LOW).astype(np.int64)
