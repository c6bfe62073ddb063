"""A change of a relation in which a key has one row, key by key: its row now, or its deletion.

    by_key(d) = x with weight 1                        for x in d⁺
                (key of x, NULL, …) with weight −1     for x in d⁻ whose key isn't in d⁺

Applied in any order, these give what d gives.  Cost: O(|d| log |d|).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.groups import groups_of
from dbsp.circuits.traces.zset import ZSet


def by_key(delta: ZSet, key: Sequence[int]) -> tuple[ZSet, np.ndarray]:
    """(changes in the order of delta, bool[n]: whether the key had a row before). delta: consolidated."""
    groups = groups_of(delta.rows, key)
    group = groups.owner
    comes, goes = (np.zeros(len(groups.first), dtype=np.bool_) for _ in range(2))
    comes[group[delta.weights > 0]] = True
    goes[group[delta.weights < 0]] = True
    kept = np.flatnonzero((delta.weights > 0) | ~comes[group])
    found = delta.take(kept)
    deleted = found.weights < 0
    columns = [
        column if i in key else _null_where(column, deleted) for i, column in enumerate(found.rows.columns)
    ]
    fields = [f if i in key else f.with_nullable(True) for i, f in enumerate(found.schema)]
    rows = pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
    return ZSet(rows, found.weights), goes[group[kept]]


def _null_where(column: pa.Array, mask: np.ndarray) -> pa.Array:
    if not mask.any():
        return column
    indices = np.arange(len(column))
    return column.take(pa.array(indices, mask=mask))
