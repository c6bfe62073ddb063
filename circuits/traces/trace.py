"""Traces: the integral of a stream, as an operator reads it within one step.

    I(d)ₜ = z⁻¹(I(d))ₜ + dₜ            `before` is z⁻¹(I(d)), `delta` is d

`before` is the sum of the live batches of a spine, mapped, not read: finding the rows of d keys costs
O(d log n) a batch. One trace serves all its readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import every
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout, of_placement, placements
from dbsp.circuits.traces.sorted_run import Found, Shares, SortedRun
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True, eq=False)
class Integral:
    """before: runs whose sum is the integral up to the last step; delta: this step's batch."""

    layout: Layout
    before: tuple[SortedRun, ...]
    delta: Batch

    @property
    def zset(self) -> ZSet:
        """This step's delta, consolidated."""
        return self.delta.zset

    @property
    def after(self) -> tuple[SortedRun, ...]:
        """Runs whose sum is the integral of this step."""
        return (*self.before, *as_runs(self.delta))

    @property
    def stepped(self) -> Integral:
        """The integral of this step, in which what the step adds is found too."""
        return Integral(self.layout, self.after, self.delta)

    @property
    def changed(self) -> Integral:
        """The delta alone: what is found is of this step."""
        return Integral(self.layout, as_runs(self.delta), self.delta)

    def find(
        self, columns: list[pa.Array], keys: np.ndarray, identity: tuple[int, ...], whole_key: bool
    ) -> Iterator[tuple[np.ndarray, Batch, np.ndarray]]:
        """`find_in` all of `before`."""
        return find_in(self.before, columns, keys, identity, whole_key)

    def within(self, least: np.ndarray, greatest: np.ndarray) -> tuple[np.ndarray, ZSet]:
        """(sort keys, rows) of `before` with least[i] <= sort key <= greatest[i] for some i, run by run."""
        least, greatest = disjoint(least, greatest)
        found = []
        for run in self.before:
            _, there = expand_ranges(*run.ranges(least, greatest))
            if len(there):
                found.append(run.take(there))
        keys = np.concatenate([np.zeros(0, dtype=np.uint64), *(batch.keys for batch in found)])
        return keys, ZSet.sum(self.layout.schema, [batch.zset for batch in found])


def find_in(
    runs: Sequence[SortedRun],
    columns: list[pa.Array],
    keys: np.ndarray,
    identity: tuple[int, ...],
    whole_key: bool,
) -> Iterator[tuple[np.ndarray, Batch, np.ndarray]]:
    """The rows whose `identity` columns equal row i of `columns`; those of one run side by side.

    keys: sort keys of the wanted rows. whole_key: the low half is a hash of `identity` too.
    Yields (positions into columns, batch, positions into the batch), once at most: the rows of all runs
    are gathered and compared together, since most of what that costs is calls.
    """
    places, owner = (keys, None) if whole_key else placements(keys)
    least, greatest = (keys, keys) if whole_key else of_placement(places)
    return find_within(runs, columns, least, greatest, identity, owner)


def find_within(
    runs: Sequence[SortedRun],
    columns: list[pa.Array],
    least: np.ndarray,
    greatest: np.ndarray,
    identity: tuple[int, ...],
    owner: np.ndarray | None = None,
) -> Iterator[tuple[np.ndarray, Batch, np.ndarray]]:
    """The same of rows with least[i] <= sort key <= greatest[i]. owner: which of the ranges is row i's; None:
    the one at i.
    """
    found: list[np.ndarray] = []
    shares: Shares = []
    for run in runs:
        asking, start, stop = run.met(least, greatest, owner)
        if len(asking):
            meets, there = expand_ranges(start, stop)
            wanted = asking[meets]
            order, parts = run.shares(there)
            found.append(wanted if order is None else wanted[order])
            shares += parts
    if not found:
        return
    batch, there = shares[0]
    wanted = found[0]
    if len(shares) > 1 or batch.is_narrow:
        wanted, batch = np.concatenate(found), Found(shares)
        there = np.arange(len(wanted))
    same = equal_rows(columns, wanted, [batch.column(i) for i in identity], there)
    if not every(same):
        wanted, there = wanted[same], there[same]
    yield wanted, batch, there


def as_runs(*batches: Batch) -> tuple[SortedRun, ...]:
    """Each batch as a run of its own."""
    return tuple(SortedRun([batch]) for batch in batches if len(batch))


def disjoint(least: np.ndarray, greatest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same keys in closed ranges that ascend and don't overlap; those that are empty are left out."""
    some = least <= greatest
    least, greatest = least[some], greatest[some]
    order = least.argsort()
    least, greatest = least[order], np.maximum.accumulate(greatest[order])
    opens = np.ones(len(least), dtype=np.bool_)
    opens[1:] = least[1:] > greatest[:-1]
    starts = opens.nonzero()[0]
    return least[starts], greatest[np.append(starts[1:], len(least))[: len(starts)] - 1]
