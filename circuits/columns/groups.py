"""The groups that a change has rows of.  Cost: O(|d| log |d|)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import take
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows


@dataclass(frozen=True, eq=False)
class Groups:
    """keys: the key columns, one row a group. hashes: uint64[groups], of these, ascending.

    order, starts: as of `group_rows`: the rows of group g are order[starts[g]:starts[g + 1]].
    """

    keys: list[pa.Array]
    hashes: np.ndarray
    order: np.ndarray
    starts: np.ndarray

    @cached_property
    def first(self) -> np.ndarray:
        """Of each group a row of the change."""
        return np.asarray(self.order[self.starts])

    @cached_property
    def owner(self) -> np.ndarray:
        """int64[n]: the group of each row of the change."""
        owner = np.empty(len(self.order), dtype=np.int64)
        sizes = np.diff(self.starts, append=len(self.order))
        owner[self.order] = np.arange(len(self.starts)).repeat(sizes)
        return owner

    def total(self, values: np.ndarray, add: np.ufunc = np.add) -> np.ndarray:
        """Of each group, of which there are some, the sum of its rows' values."""
        return np.asarray(add.reduceat(values[self.order], self.starts))


def groups_of(rows: pa.RecordBatch, keys: Sequence[int], seed: int = 0) -> Groups:
    """keys: the columns that make a group; none: one group."""
    columns = [rows.column(i) for i in keys]
    hashes = hash_rows(columns, rows.num_rows, seed)
    order, starts = group_rows(columns, hashes)
    first = order[starts]
    own = take(rows.select(list(keys)), first).columns if keys else []
    return Groups(own, hashes[first], order, starts)
