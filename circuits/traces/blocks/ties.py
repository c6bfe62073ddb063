"""Ties: the rows of a batch that share one sort key, in an order of their values.

An order code has 32 bits, which text that begins alike, or times within a second, share. A group whose rows
all do would be listed for its first few. Sorted once, they are found by their places.

Cost: O(m log m) for m rows, once a batch; four bytes a row for as long as the batch is kept open.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from dbsp.circuits.columns.sorting import SortKey, sort_rows
from dbsp.circuits.traces.batch import Batch


def ties_in_order(batch: Batch, begin: int, end: int, order: tuple[SortKey, ...]) -> np.ndarray:
    """int32[end - begin]: from `begin` on the positions of the rows at begin <= position < end, as `order`
    has them, and by all their values where they tie in it.
    """
    return batch.summary((order, begin, end), partial(_sorted, batch, begin, end, order))


def _sorted(batch: Batch, begin: int, end: int, order: Sequence[SortKey]) -> np.ndarray:
    by, _ = sort_rows(batch.slice(begin, end).rows, np.zeros(end - begin, dtype=np.int64), order)
    return by.astype(np.int32)
