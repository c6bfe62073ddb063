"""What an aggregate that isn't a few sums per group is made of: rows of the group, and a function of them.

    result[g] = finalizer({ (x, w) : (g, x) has weight w })

The rows are either the values themselves, or what a `Split` makes of each value: parts whose amounts add up,
so that a group has as many rows as there are different parts, however many values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, int64_array, take
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.sorting import SortKey, sort_rows


@dataclass(frozen=True, eq=False)
class Members:
    """The rows of the touched groups on one side of a step.

    owner: int64[n], the row's group, in any order. columns: those after the keys. weights: int64[n].
    count: how many groups. A row may be listed several times; weights, and amounts of parts, add up.
    """

    owner: np.ndarray
    columns: list[pa.Array]
    weights: np.ndarray
    count: int

    @staticmethod
    def sum(schema: pa.Schema, parts: list[Members], count: int) -> Members:
        """schema: of the columns."""
        parts = [part for part in parts if len(part.owner)]
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return Members(nothing, [pa.array([], field.type) for field in schema], nothing, count)
        columns = [pa.concat_arrays([part.columns[i] for part in parts]) for i in range(len(schema))]
        owner = np.concatenate([part.owner for part in parts])
        return Members(owner, columns, np.concatenate([part.weights for part in parts]), count)

    def listed(self, order: tuple[SortKey, ...] = ()) -> Members:
        """Each row once, with the weight it has if that is positive: by group, then `order`, then the row."""
        columns = [int64_array(np.ascontiguousarray(self.owner)), *self.columns]
        if order:
            return self._sorted(columns, order)
        by, starts = group_rows(columns, hash_rows(columns, len(self.owner)))
        weights = np.add.reduceat(self.weights[by], starts) if len(starts) else self.weights
        there = np.flatnonzero(weights > 0)
        rows = pa.RecordBatch.from_arrays(columns, [str(i) for i in range(len(columns))])
        rows = take(rows, by[starts[there]])
        places, _ = sort_rows(rows, fixed_values(rows.column(0)), ())
        return self._of(take(rows, places), weights[there][places])

    def _sorted(self, columns: list[pa.Array], order: tuple[SortKey, ...]) -> Members:
        """By an order that tells most rows apart, the sort finds equal ones: they tie."""
        rows = pa.RecordBatch.from_arrays(columns, [str(i) for i in range(len(columns))])
        shifted = [replace(key, column=key.column + 1) for key in order]
        by, peers = sort_rows(rows, self.owner, shifted)
        tied = 1 + np.flatnonzero(np.diff(peers) == 0)
        first = np.ones(len(by), dtype=np.bool_)
        first[tied] = ~equal_rows(columns, by[tied - 1], columns, by[tied])
        starts = np.flatnonzero(first)
        weights = np.add.reduceat(self.weights[by], starts) if len(starts) else self.weights
        there = np.flatnonzero(weights > 0)
        return self._of(take(rows, by[starts[there]]), weights[there])

    def _of(self, rows: pa.RecordBatch, weights: np.ndarray) -> Members:
        """rows: the owner, then the columns."""
        return Members(fixed_values(rows.column(0)), rows.columns[1:], weights, self.count)


class Split(ABC):
    """value ↦ parts: rows (index columns…, amount), amounts being int64 that add up over the values."""

    index: ClassVar[tuple[str, ...]]

    @abstractmethod
    def split(self, columns: list[pa.Array]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """(position of the value, index columns, amount) of every part; columns: the arguments."""


class Finalizer(ABC):
    """A group's result from its rows: a frozen value, called for all touched groups at once."""

    @property
    def split(self) -> Split | None:
        """How values become the rows it reads; None: they are the values."""
        return None

    @abstractmethod
    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        """One value a group, of type `data_type`."""
