"""A trace in pieces: ranges of the sort key, so that whoever reads all of it holds little of it at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import HIGH
from dbsp.circuits.traces.spine import END


def in_ranges(batches: Sequence[Batch], most: int, whole_placements: bool = False) -> Iterator[list[Batch]]:
    """Of each batch its rows in one range of the sort key, for one range after the other.

    A range has about `most` rows of all batches together, unless one sort key has more: what cancels lies in
    one range. whole_placements: so do all rows with one hash of the placement.
    """
    for low, high in pairwise(_bounds(batches, most, whole_placements)):
        yield [batch.between(low, high) for batch in batches]


def _bounds(batches: Sequence[Batch], most: int, whole_placements: bool) -> list[int]:
    if sum(map(len, batches)) <= most:
        return [0, END]
    stride = max(1, most // (2 * len(batches)))
    keys = np.concatenate([batch.keys[::stride] for batch in batches])
    if whole_placements:
        keys = keys & HIGH
    return [0, *map(int, np.unique(keys)[:: len(batches)][1:]), END]
