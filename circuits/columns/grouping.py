"""Sort rows by hash and find the runs of equal ones, exactly, also where hashes collide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

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
    order = np.argsort(keys, kind="stable" if presorted else "quicksort")
    ordered = keys[order]
    candidate = np.flatnonzero(ordered[1:] == ordered[:-1])
    first = np.ones(len(keys), dtype=np.bool_)
    if len(candidate):
        equal = equal_rows(columns, order[candidate], columns, order[candidate + 1])
        if not equal.all():
            colliding = np.zeros(len(keys), dtype=np.bool_)
            colliding[candidate[~equal]] = True
            order = _separate(columns, keys, order, ordered, colliding)
            equal = equal_rows(columns, order[candidate], columns, order[candidate + 1])
        first[candidate + 1] = ~equal
    return order, np.flatnonzero(first)


def _separate(
    columns: Sequence[pa.Array],
    keys: np.ndarray,
    order: np.ndarray,
    ordered: np.ndarray,
    colliding: np.ndarray,
) -> np.ndarray:
    """The same order, but with equal rows adjacent inside the runs of one key that hold different rows.

    A second hash settles all but true collisions of it; those are settled by comparing with one row of
    the run after the other.
    """
    run = np.cumsum(np.concatenate([[True], ordered[1:] != ordered[:-1]])) - 1
    mixed = np.zeros(run[-1] + 1, dtype=np.bool_)
    mixed[run[colliding]] = True
    places = np.flatnonzero(mixed[run])
    rows, runs = order[places], run[places]
    second = hash_rows([column.take(pa.array(rows)) for column in columns], len(rows), _SECOND)
    rank = np.zeros(len(rows), dtype=np.int64)
    left = np.arange(len(rows))
    turn = 0
    while len(left):
        # the first row left of each (run, second hash) stands for all rows equal to it
        by = left[np.lexsort((second[left], runs[left]))]
        opens = np.ones(len(by), dtype=np.bool_)
        opens[1:] = (runs[by[1:]] != runs[by[:-1]]) | (second[by[1:]] != second[by[:-1]])
        leader = by[np.flatnonzero(opens)[np.cumsum(opens) - 1]]
        equal = equal_rows(columns, rows[by], columns, rows[leader])
        rank[by[equal]] = turn
        left = by[~equal]
        turn += 1
    order = order.copy()
    order[places] = rows[np.lexsort((rank, second, runs))]
    return order
