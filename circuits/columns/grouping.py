"""Sort rows by hash and find the runs of equal ones, exactly, also where hashes collide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import every
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.hashing import hash_rows

_SECOND = 0x5EC0ED


def group_rows(
    columns: Sequence[pa.Array], keys: np.ndarray, presorted: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """(order int64[n], starts int64[groups]): rows in key order, equal rows side by side.

    keys: uint64[n], equal for equal rows. Group g is order[starts[g]:starts[g + 1]].
    presorted: the keys are a few sorted runs, which a merge sort passes over once.
    Cost: the sort; one exact comparison per pair of neighbours with equal keys.
    """
    order = keys.argsort(kind="stable" if presorted else "quicksort")
    ordered = keys[order]
    first = np.empty(len(keys), dtype=np.bool_)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    (candidate,) = (~first).nonzero()
    if len(candidate):
        same = equal_rows(columns, order[candidate - 1], columns, order[candidate])
        if not every(same):
            runs = np.cumsum(first) - 1
            mixed = np.zeros(runs[-1] + 1, dtype=np.bool_)
            mixed[runs[candidate[~same]]] = True
            places = np.flatnonzero(mixed[runs])
            order = order.copy()
            order[places], first[places] = _separate(columns, order[places], runs[places])
    return order, first.nonzero()[0]


def _separate(
    columns: Sequence[pa.Array], rows: np.ndarray, runs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(the rows by run, equal ones side by side; bool[n]: whether one differs from the row before it)

    A second hash settles all but true collisions of it; those are settled by comparing with one row of
    the run after the other.
    """
    second = hash_rows([column.take(pa.array(rows)) for column in columns], len(rows), _SECOND)
    # one word sorts several times as fast as two
    codes = (runs.astype(np.uint64) << np.uint64(32)) | (second >> np.uint64(32))
    rank = np.zeros(len(rows), dtype=np.int64)
    left = np.arange(len(rows))
    turn = 0
    while len(left):
        # the first row left of each code stands for all rows equal to it
        by = left[np.argsort(codes[left])]
        opens = np.ones(len(by), dtype=np.bool_)
        opens[1:] = codes[by[1:]] != codes[by[:-1]]
        leaders = by[np.flatnonzero(opens)[np.cumsum(opens) - 1]]
        others = np.flatnonzero(~opens)
        equal = np.ones(len(by), dtype=np.bool_)
        equal[others] = equal_rows(columns, rows[by[others]], columns, rows[leaders[others]])
        rank[by[equal]] = turn
        left = by[~equal]
        turn += 1
    if turn > 1:
        by = np.lexsort((rank, codes))
        opens = np.ones(len(by), dtype=np.bool_)
        opens[1:] = (codes[by[1:]] != codes[by[:-1]]) | (rank[by[1:]] != rank[by[:-1]])
    return rows[by], opens
