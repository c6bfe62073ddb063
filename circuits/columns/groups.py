"""The groups that a change has rows of.  Cost: O(|d| log |d|)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import take
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows


@dataclass(frozen=True, eq=False)
class Groups:
    """keys: the key columns, one row a group. hashes: uint64[groups], of these. first: of each group a row of
    the change. owner: int64[n], the group of each row of the change.
    """

    keys: list[pa.Array]
    hashes: np.ndarray
    first: np.ndarray
    owner: np.ndarray


def groups_of(rows: pa.RecordBatch, keys: Sequence[int], seed: int = 0) -> Groups:
    """keys: the columns that make a group; none: one group."""
    columns = [rows.column(i) for i in keys]
    hashes = hash_rows(columns, rows.num_rows, seed)
    by, starts = group_rows(columns, hashes)
    first = by[starts]
    owner = np.empty(rows.num_rows, dtype=np.int64)
    owner[by] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(by)))
    own = take(rows.select(list(keys)), first).columns if keys else []
    return Groups(own, hashes[first], first, owner)
