"""Bad rows of a source that is read whole, again and again: each is told once.

    told(t)[x] = max(0, B(t)[x] − z⁻¹(I(told))[x])      x: a row's text

B(t): those of a look. So a row that stays bad isn't told again, nor where it has moved to another place, nor
after a restart, nor where its reason has other words by now.
Cost: O(|B(t)| + |I(told)|), of the source alone; what was told is read once a run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, take
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.operators.inputs.bad import REFUSED_SCHEMA
from dbsp.views.view import Contents

_KEY = pa.schema([REFUSED_SCHEMA.field(name) for name in ("text",)])


class Told:
    """kept: `bad_rows` as of the last step."""

    def __init__(self, kept: Callable[[], Contents]) -> None:
        self._kept = kept
        self._told: dict[str, pa.RecordBatch] = {}

    def untold(self, table: str, bad: pa.RecordBatch) -> pa.RecordBatch:
        """Those that are to be told, which then count as told. bad: of REFUSED_SCHEMA, all of a look."""
        if not bad.num_rows:
            return bad
        if table not in self._told:
            told = self._kept().where({"relation": table}).to_arrow().select(_KEY.names)
            self._told[table] = concat(_KEY, told.cast(_KEY).to_batches())
        before = self._told[table]
        new = take(bad, _surplus(before, bad.select(_KEY.names)))
        self._told[table] = concat(_KEY, [before, new.select(_KEY.names)])
        return new

    def forget(self) -> None:
        """A step wasn't made: what counted as told is read again."""
        self._told.clear()


def _surplus(before: pa.RecordBatch, rows: pa.RecordBatch) -> np.ndarray:
    """The positions of the rows that are there more often than before: int64[n]."""
    both = concat(_KEY, [before, rows])
    order, starts = group_rows(both.columns, hash_rows(both.columns, both.num_rows))
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    had = np.bincount(group[: before.num_rows], minlength=len(starts))
    own = group[before.num_rows :]
    by = np.argsort(own, kind="stable")
    first = np.searchsorted(own[by], own[by])
    return np.sort(by[np.arange(len(by)) - first >= had[own[by]]])
