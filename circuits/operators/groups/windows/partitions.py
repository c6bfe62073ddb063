"""Partitions: the rows of all partitions, sorted, a row for every copy, with the runs they lie in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.windows.heads import Heads
from dbsp.circuits.operators.groups.windows.parts import Ahead, Parts
from dbsp.circuits.traces.blocks.extremes import Extreme, Extremes

Runs = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Partitions:
    """distinct: rows that may occur several times. row: int64[n], which of them each row is, in order: by
    partition, then by `order`. partition, peer: int64[n], ascending: equal for rows of one partition; for
    rows of it that the order doesn't tell apart. heads: what partitions have in front of these rows.
    """

    distinct: pa.RecordBatch
    row: np.ndarray
    partition: np.ndarray
    peer: np.ndarray
    order: Sequence[SortKey]
    heads: Heads | None = None

    def __len__(self) -> int:
        return len(self.row)

    def column(self, index: int) -> pa.Array:
        """The column's value for each row."""
        return self.expanded(self.distinct.column(index))

    def expanded(self, values: pa.Array) -> pa.Array:
        """What there is a value of for each distinct row, for each row."""
        if len(self.row) == len(values) and self.is_plain:
            return values
        return values.take(int64_array(self.row))

    @cached_property
    def is_plain(self) -> bool:
        """Whether each distinct row is there once, in place."""
        return bool(len(self.row) == self.distinct.num_rows and (self.row == np.arange(len(self.row))).all())

    @cached_property
    def position(self) -> np.ndarray:
        return np.arange(len(self.row))

    @cached_property
    def whole(self) -> Runs:
        """(start, stop) of each row's partition."""
        return _runs(self.partition)

    @cached_property
    def peers(self) -> Runs:
        """(start, stop) of each row's peers."""
        return _runs(self.peer)

    @cached_property
    def skipped(self) -> np.ndarray | int:
        """How many rows are in front of those of each row's partition."""
        if self.heads is None:
            return 0
        return np.asarray(self.heads.rows[self.partition])

    def ahead(self, index: int, summed: bool) -> Ahead | None:
        """How many values the column has in front of each partition's rows, and their sum if `summed`."""
        if self.heads is None:
            return None
        return Ahead(self.partition, self.heads.sums(Parts((index,), summed)))

    def extreme_ahead(self, extreme: Extreme) -> Extremes | None:
        """(order bits of the extreme value in front of the rows of each row's partition, what rows with it
        weigh) int64[n] each.
        """
        if self.heads is None:
            return None
        codes, weights = self.heads.extreme(extreme)
        return codes[self.partition], weights[self.partition]


def _runs(ascending: np.ndarray) -> Runs:
    """(start int64[n], stop int64[n]) of the run of equal numbers that each place lies in."""
    starts = np.flatnonzero(np.diff(ascending, prepend=-1))
    lengths = np.diff(starts, append=len(ascending))
    return np.repeat(starts, lengths), np.repeat(starts + lengths, lengths)
