"""Identities: the rows of a batch that share one sort key, found by the hash of all their values.

A sort key with an order code finds a row among those of its code, which may be most of a group.

Cost: O(m log m) for m rows, once a batch; twelve bytes a row for as long as the batch is kept open.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.traces.batch import Batch


def of_hash(
    batch: Batch, begin: int, end: int, hashes: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """(i, positions): the rows at begin <= position < end whose values have hash i."""
    what = "identities", begin, end, seed
    known, by = batch.summary(what, partial(_hashed, batch, begin, end, seed))
    start, stop = (known.searchsorted(hashes, side) for side in ("left", "right"))
    i, there = expand_ranges(start, stop)
    return i, begin + by[there].astype(np.int64)


def _hashed(batch: Batch, begin: int, end: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    hashes = hash_rows(batch.slice(begin, end).rows.columns, end - begin, seed)
    by = hashes.argsort()
    return hashes[by], by.astype(np.int32)
