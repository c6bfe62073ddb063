"""Aggregates of all values of a group: lists, joined text, and the most frequent value.

    collect_list(g) = the values, copies counted, in the order asked for, then of values
    listagg(g)      = the values joined, in the same
    mode(g)         = the value of greatest weight

Spark leaves the order open where a query says none; here it never is, so that the same table always gives the
same bytes. It is asked to be that of arrival where rows have one.  State: the values, with what they are
ordered by.  Cost: O(r log r) for the r rows of the touched groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.state.members import Finalizer, Members


@dataclass(frozen=True)
class Collect(Finalizer):
    """A list of the first column's values; empty for a group without any.

    order: over the columns. once: each row once.
    """

    order: tuple[SortKey, ...] = ()
    once: bool = False

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        listed = members.listed(self.order)
        return lists(listed, np.ones_like(listed.weights) if self.once else listed.weights).cast(data_type)


@dataclass(frozen=True)
class Join(Finalizer):
    """The first column's strings or binaries, the delimiter between them; NULL for a group without any.

    order: over the columns. once: each row once.
    """

    delimiter: str | bytes
    order: tuple[SortKey, ...] = ()
    once: bool = False

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        listed = members.listed(self.order)
        values = lists(listed, np.ones_like(listed.weights) if self.once else listed.weights)
        joined = pc.binary_join(values, pa.scalar(self.delimiter, data_type))
        return pc.if_else(pc.greater(pc.list_value_length(values), 0), joined, pa.scalar(None, data_type))


@dataclass(frozen=True)
class Mode(Finalizer):
    """The most frequent value of the first column; of several the least, or the greatest."""

    greatest: bool = False

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        listed = members.listed()
        # ascending by value: the last of the heaviest is the greatest
        place = np.arange(len(listed.owner))
        by = np.lexsort((place if self.greatest else -place, listed.weights, listed.owner))
        return pick(listed, by[last_of_groups(listed.owner[by])])


@dataclass(frozen=True)
class Best(Finalizer):
    """The second column's values of the `size` rows that are first by the first one; NULL of no rows.

    Of equal ones the least values: Spark takes any.
    """

    size: int
    greatest: bool

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        listed = members.listed((SortKey(0, descending=self.greatest),))
        copies = listed.weights
        before = np.cumsum(copies) - copies
        starts = np.flatnonzero(np.diff(listed.owner, prepend=-1))
        within = before - before[starts][np.cumsum(np.diff(listed.owner, prepend=-1) != 0) - 1]
        copies = np.clip(self.size - within, 0, copies)
        valued = replace(listed, columns=listed.columns[1:])
        made = lists(valued, copies).cast(data_type)
        return pc.if_else(pc.greater(pc.list_value_length(made), 0), made, pa.scalar(None, data_type))


@dataclass(frozen=True)
class Some(Finalizer):
    """Some value of the first column: the least, NULL if there is no other."""

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        listed = members.listed((SortKey(0, descending=True, nulls_last=False),))
        return pick(listed, np.flatnonzero(last_of_groups(listed.owner)))


def lists(listed: Members, copies: np.ndarray) -> pa.Array:
    """Per group the list of its values, each so many times."""
    offsets = np.zeros(listed.count + 1, dtype=np.int64)
    np.add.at(offsets[1:], listed.owner, copies)
    places = np.repeat(np.arange(len(copies)), copies)
    values = listed.columns[0].take(int64_array(places))
    return pa.ListArray.from_arrays(pa.array(np.cumsum(offsets), pa.int32()), values)


def last_of_groups(owner: np.ndarray) -> np.ndarray:
    """bool[n]: whether the row is its group's last; owner: ascending."""
    last = np.ones(len(owner), dtype=np.bool_)
    last[:-1] = owner[1:] != owner[:-1]
    return last


def pick(listed: Members, rows: np.ndarray) -> pa.Array:
    """Per group the first column of its row among `rows`, NULL where it has none."""
    return picked(listed.columns[0], listed.owner[rows], rows, listed.count)


def picked(values: pa.Array, owner: np.ndarray, rows: Sequence[int] | np.ndarray, count: int) -> pa.Array:
    position = np.full(count, -1, dtype=np.int64)
    position[owner] = rows
    return values.take(pa.array(position, mask=position < 0))
