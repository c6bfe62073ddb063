"""The rows of a trace that a step's change is of: those whose values are the same.

    same(i, d) = { (x, i[x]) : d[x] ≠ 0 }

In a trace by an order a sort key may be thousands of rows': of these the hash of all values says which.
Cost: O(log n) a changed row and run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.blocks.identities import of_hash
from dbsp.circuits.traces.sorted_run import SortedRun

# so few rows of one sort key are all looked at
_FEW = 1024


def same_rows(runs: Sequence[SortedRun], delta: Batch, seed: int) -> list[tuple[np.ndarray, Batch]]:
    """(which row of `delta`, the same of a run), run by run."""
    keys, first, key_of = np.unique(delta.keys, return_index=True, return_inverse=True)
    ends = np.append(first[1:], len(delta))
    hashes = np.zeros(0, dtype=np.uint64)
    found = []
    for run in runs:
        start, stop = run.ranges(keys, keys)
        are_many = stop - start > _FEW
        wanted, there = expand_ranges(start[key_of], np.where(are_many, start, stop)[key_of])
        asked = [(wanted, there)]
        (many,) = are_many.nonzero()
        if len(many) and not len(hashes):
            hashes = hash_rows(delta.rows.columns, len(delta), seed)
        for batch, of, begins, stops in run.cut(start[many], stop[many]):
            for at, begin, end in zip(many[of].tolist(), begins.tolist(), stops.tolist(), strict=True):
                i, positions = of_hash(batch, begin, end, hashes[first[at] : ends[at]], seed)
                asked.append((first[at] + i, start[at] - begin + positions))
        wanted, there = (np.concatenate(parts) for parts in zip(*asked, strict=True))
        if len(there):
            rows = run.take(there)
            same = equal_rows(delta.rows.columns, wanted, rows.rows.columns, np.arange(len(rows)))
            (kept,) = same.nonzero()
            found.append((wanted[kept], rows.take(kept)))
    return found
