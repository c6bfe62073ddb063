"""Edges: how far rows that share an order code have been fetched, as rows.

    e < x  ⇒  x is complete         in an order that the reader asks for, for each edge e of x's group

A code is no bound where thousands of rows share it. Each run that has more of them than were fetched has the
first one that wasn't as an edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, take
from dbsp.circuits.columns.sorting import SortKey, sort_rows


@dataclass(frozen=True)
class Finer:
    """An order, of which the trace's is the beginning; the first row in it is the outermost one.

    whole: rows that tie in it follow each other by their values, as `sort_rows` has them.
    """

    order: tuple[SortKey, ...]
    whole: bool = False


@dataclass(frozen=True, eq=False)
class Edges:
    """owner: int64[m], the group of each; a group may have several. rows: m rows."""

    finer: Finer
    owner: np.ndarray
    rows: pa.RecordBatch

    def of(self, groups: np.ndarray, wanted: np.ndarray) -> Edges:
        """Those of the groups that are wanted, bool per group, which are called what `groups` says."""
        (kept,) = wanted[self.owner].nonzero()
        return Edges(self.finer, groups[self.owner[kept]], take(self.rows, kept))

    def lie_behind(self, owner: np.ndarray, rows: pa.RecordBatch) -> np.ndarray:
        """bool[n]: whether all edges of a row's group come after it. owner: of groups that have edges."""
        edges = len(self.owner)
        # as the last column it has an edge come before a row with the same values
        marks = np.arange(edges + len(owner)) >= edges
        columns = [*concat(rows.schema, [self.rows, rows]).columns, pa.array(marks)]
        both = pa.RecordBatch.from_arrays(columns, names=[*rows.schema.names, ""])
        group = np.concatenate([self.owner, owner])
        by, peers = sort_rows(both, group, self.finer.order)
        place = np.empty(len(by), dtype=np.int64)
        place[by] = np.arange(len(by)) if self.finer.whole else peers
        nearest = np.full(int(group.max()) + 1, len(by) + 1)
        np.minimum.at(nearest, self.owner, place[:edges])
        return np.asarray(place[edges:] < nearest[owner])
