"""Groups whose keys' hashes begin alike: their rows lie among each other, so that a range has rows of both.

    mingled(g) = some row between the first and the last of g's range, in some run, is of another group

A batch knows which high halves its rows have for several groups, and the first row of a range says whose the
others are.  Cost: O(log n) a group and batch, and once O(n) for a batch of n rows, which keeps what it found.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.blocks.sums import Ranges
from dbsp.circuits.traces.layout import HIGH


def mingled(
    ranges: Sequence[Ranges], keys: Sequence[pa.Array], high: np.ndarray, columns: tuple[int, ...]
) -> np.ndarray:
    """bool[groups]: whether rows of another group lie in a range of the group's.

    keys, high: of the groups, and the high halves of their sort keys. columns: where a batch has the keys.
    """
    found = np.zeros(len(high), dtype=np.bool_)
    for run, start, stop in ranges:
        for batch, owner, begin, _ in run.cut(start, stop):
            first = [batch.column_at(i, begin) for i in columns]
            others = ~equal_rows(keys, owner, first, np.arange(len(owner)))
            shared = batch.summary(columns, partial(_shared, batch, columns))
            found[owner[others | np.isin(high[owner], shared)]] = True
    return found


def _shared(batch: Batch, columns: tuple[int, ...]) -> np.ndarray:
    """The high halves of sort keys that rows of several groups have in the batch."""
    high = batch.keys & HIGH
    (alike,) = (high[1:] == high[:-1]).nonzero()
    keys = [batch.column(i) for i in columns]
    return np.unique(high[alike[~equal_rows(keys, alike, keys, alike + 1)]])
