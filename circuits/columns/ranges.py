"""Ranges of positions, listed one position after the other: the elements of lists, the rows of runs.

    expand(start, stop) = [(i, j) : start[i] <= j < stop[i]]        by i, then by j

Cost: O(n + m) for n ranges of m positions.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dbsp.circuits.allowance import may_go_on

_POSITION = 8  # bytes


def expand_ranges(start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(i, j) for every range i and every start[i] <= j < stop[i], in order."""
    (owner,) = (start < stop).nonzero()
    if len(owner) < len(start):  # some are empty
        start, stop = start[owner], stop[owner]
    counts = stop - start
    total = int(np.add.reduce(counts))
    may_go_on(2 * total * _POSITION)
    if total == len(counts):  # of each one
        return owner, start
    ends = counts.cumsum()
    return owner.repeat(counts), np.arange(total) + (start - (ends - counts)).repeat(counts)


def expand_in_blocks(
    start: np.ndarray, stop: np.ndarray, most: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """`expand_ranges` of a few ranges at a time, at most about `most` pairs unless one range has more."""
    ends = (stop - start).cumsum()
    if not len(ends) or not ends[-1]:
        return
    first, done = 0, 0
    while done < ends[-1]:
        last = max(first + 1, int(ends.searchsorted(done + most, "right")))
        owner, there = expand_ranges(start[first:last], stop[first:last])
        yield owner + first, there
        first, done = last, int(ends[last - 1])


def expand_lengths(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(i, j) for every i and every 0 <= j < lengths[i], in order: whose each element is, and which of its."""
    return expand_ranges(np.zeros(len(lengths), dtype=np.int64), lengths)
