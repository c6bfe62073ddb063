"""The first rows of a view, with those marked that its last step has brought."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.traces.zset import ZSet
from dbsp.views.changes import ViewChanges
from dbsp.views.html import html_table
from dbsp.views.live import Drawing
from dbsp.views.view import Contents


def draw(contents: Contents, changes: ViewChanges | None, count: int) -> Drawing:
    """changes: of the step that the contents are as of; None: nothing is known of them."""
    rows, size = contents.page(0, count)
    title, marked = f"{contents.view}, step {contents.step}", np.zeros(rows.num_rows, np.bool_)
    if changes is not None and len(changes):
        delta = changes.added_up
        more, fewer = (int(delta.weights[sign * delta.weights > 0].sum()) for sign in (1, -1))
        title += f": +{more:,} −{-fewer:,}"
        marked = brought(rows, delta)
    text = f"<{title}; {size:,} rows>"
    return Drawing(contents.step, html_table(title, rows, size, np.flatnonzero(marked).tolist()), text)


def brought(rows: pa.RecordBatch, delta: ZSet) -> np.ndarray:
    """bool[n]: which of a few rows a delta has more of. delta: consolidated; it may have further columns.

    Cost: O(|delta|) for hashes; only rows whose hash is one of the few are compared.
    """
    added = ZSet(delta.rows.select(rows.schema.names), delta.weights)
    hashes = hash_rows(added.rows.columns, len(added))
    sought = hash_rows(rows.columns, rows.num_rows)
    added = added.take(np.flatnonzero((added.weights > 0) & np.isin(hashes, sought)))
    shown = ZSet(rows, np.zeros(rows.num_rows, np.int64))
    both = ZSet.sum(rows.schema, [shown, added])
    order, starts = group_rows(both.rows.columns, hash_rows(both.rows.columns, len(both)))
    found = np.empty(len(both), np.bool_)
    if len(both):
        groups = np.add.reduceat(both.weights[order], starts) > 0
        found[order] = np.repeat(groups, np.diff([*starts, len(both)]))
    return found[: rows.num_rows]
