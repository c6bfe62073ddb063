"""Runs: batches that are sorted end to end, searched and read as if they were one.

A merge is written piece by piece and a step of several tasks partition by partition, so that a run of a
spine is many batches, of ascending and disjoint ranges of the sort key. Asking each of them for every key
would make a lookup as dear as there are pieces. Here a batch is asked once, for the keys in its range.

Cost of finding d keys among n rows in p batches: O(d log n + p), of which only a NumPy call is per batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import every, positions_of, take_values
from dbsp.circuits.columns.narrow.column import Codes, Narrow, Words, numbers_at, of_numbers, text_at
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.traces.batch import Batch

# batch by batch, positions in it
Shares: TypeAlias = list[tuple[Batch, np.ndarray]]


def batches_of(runs: Iterable[SortedRun]) -> list[Batch]:
    """All batches of some runs."""
    return [batch for run in runs for batch in run.batches]


class SortedRun:
    """batches: not empty, the greatest sort key of each below the least of the next."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.batches = batches
        self._rows = sum(map(len, batches))
        self._ends: np.ndarray | None = None

    def __len__(self) -> int:
        return self._rows

    @cached_property
    def _bases(self) -> np.ndarray:
        """Where each batch begins, and the end."""
        return np.cumsum([0, *map(len, self.batches)])

    def ranges(self, least: np.ndarray, greatest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Per i, the half-open range of positions with least[i] <= sort key <= greatest[i]."""
        start = self._search(least, "left")
        stop = start.copy()
        # most runs hold few of the keys, and most keys one row: only the others' ends are searched for
        (there,) = (start < len(self)).nonzero()
        there = there[self.keys(start[there]) <= greatest[there]]
        if not len(there):
            return start, stop
        stop[there] += 1
        more = there[stop[there] < len(self)]
        more = more[self.keys(stop[more]) <= greatest[more]]
        stop[more] = self._search(greatest[more], "right")
        return start, stop

    def met(
        self, least: np.ndarray, greatest: np.ndarray, owner: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, start, stop): the `ranges` that aren't empty. owner: which of the ranges is i's; None: the one
        at i. Most keys that are looked up in a run aren't in it.
        """
        start, stop = self.ranges(least, greatest)
        some = start < stop
        (asking,) = (some if owner is None else some[owner]).nonzero()
        at = asking if owner is None else owner[asking]
        return asking, start[at], stop[at]

    def up_to(self, keys: np.ndarray) -> np.ndarray:
        """int64[n]: how many rows have at most each sort key."""
        return self._search(keys, "right")

    def keys(self, positions: np.ndarray) -> np.ndarray:
        """The sort keys at these positions."""
        if len(self.batches) == 1:
            return np.asarray(self.batches[0].keys[positions])
        if not _ascending(positions):
            order = np.argsort(positions)
            keys = np.empty(len(positions), dtype=np.uint64)
            keys[order] = self.keys(positions[order])
            return keys
        return np.concatenate([_NO_KEYS, *(batch.keys[at] for batch, at in self._shares(positions))])

    @property
    def is_plain(self) -> bool:
        """Whether it is one batch, whose rows are there to be looked at."""
        return len(self.batches) == 1 and not self.batches[0].is_narrow

    def take(self, positions: np.ndarray) -> Batch:
        """The rows at these positions, side by side: of each column once it is asked for."""
        if len(self.batches) > 1 and not _ascending(positions):
            order = np.argsort(positions)
            back = np.empty(len(positions), dtype=np.int64)
            back[order] = np.arange(len(positions))
            return Found(self._shares(positions[order]), back)
        return Found(self._shares(positions) or [(self.batches[0], positions)])

    def shares(self, positions: np.ndarray) -> tuple[np.ndarray | None, Shares]:
        """(order, shares): where the rows at positions[order] lie; None: in the order that they are given."""
        if len(self.batches) == 1:
            return None, [(self.batches[0], positions)]
        order = None if _ascending(positions) else np.argsort(positions)
        return order, self._shares(positions if order is None else positions[order])

    def cut(
        self, start: np.ndarray, stop: np.ndarray
    ) -> Iterator[tuple[Batch, np.ndarray, np.ndarray, np.ndarray]]:
        """Half-open ranges of positions, batch by batch: (batch, which of them, start and stop in it)."""
        bases = self._bases
        first = bases.searchsorted(start, "right") - 1
        owner, within = expand_ranges(first, np.where(start < stop, bases.searchsorted(stop, "left"), first))
        order = within.argsort(kind="stable")
        for b, i, j in _groups(within[order]):
            of = owner[order[i:j]]
            begin, end = np.maximum(start[of], bases[b]), np.minimum(stop[of], bases[b + 1])
            yield self.batches[b], of, begin - bases[b], end - bases[b]

    def _search(self, keys: np.ndarray, side: str) -> np.ndarray:
        """Where keys belong."""
        if not len(keys):
            return np.zeros(0, dtype=np.int64)  # and nothing is read
        if len(self.batches) == 1:
            return self.batches[0].keys.searchsorted(keys, side)  # type: ignore[call-overload, no-any-return]
        if not _ascending(keys):
            order = np.argsort(keys)
            found = np.empty(len(keys), dtype=np.int64)
            found[order] = self._search(keys[order], side)
            return found
        if self._ends is None:
            self._ends = np.array([batch.last for batch in self.batches], dtype=np.uint64)
        owner = self._ends.searchsorted(keys, side)  # type: ignore[call-overload]
        found = np.full(len(keys), len(self), dtype=np.int64)
        for batch, begin, end in _groups(owner):
            if batch < len(self.batches):
                within = self.batches[batch].keys.searchsorted(keys[begin:end], side)  # type: ignore[call-overload]
                found[begin:end] = within + self._bases[batch]
        return found

    def _shares(self, positions: np.ndarray) -> Shares:
        """Ascending positions batch by batch."""
        if len(self.batches) == 1:
            return [(self.batches[0], positions)]
        owner = self._bases.searchsorted(positions, "right") - 1
        return [(self.batches[b], positions[i:j] - self._bases[b]) for b, i, j in _groups(owner)]


_NO_KEYS = np.zeros(0, dtype=np.uint64)


def sorted_runs(batches: Iterable[Batch]) -> Iterator[SortedRun]:
    """The batches in their order, as few sorted_runs as that allows."""
    group: list[Batch] = []
    for batch in batches:
        if not len(batch):
            continue
        if group and group[-1].last >= batch.first:
            yield SortedRun(group)
            group = []
        group.append(batch)
    if group:
        yield SortedRun(group)


def _ascending(values: np.ndarray) -> bool:
    return every(values[1:] >= values[:-1])


def _groups(owner: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """(value, begin, end) of every run of one value."""
    if len(owner):
        cuts = (np.flatnonzero(owner[1:] != owner[:-1]) + 1).tolist()
        starts = [0, *cuts]
        yield from zip(owner[starts].tolist(), starts, [*cuts, len(owner)], strict=True)


class Found(Batch):
    """Rows at some positions of some batches, one after the other; or in the order `back` of those."""

    def __init__(self, shares: Sequence[tuple[Batch, np.ndarray]], back: np.ndarray | None = None) -> None:
        self.__dict__.update(_shares=shares, _back=back, _columns={})

    def __len__(self) -> int:
        return sum(len(at) for _, at in self._found)

    @property
    def _found(self) -> Sequence[tuple[Batch, np.ndarray]]:
        return self.__dict__["_shares"]  # type: ignore[no-any-return]

    @cached_property
    def keys(self) -> np.ndarray:
        return self._together([batch.keys[at] for batch, at in self._found])

    @cached_property
    def weights(self) -> np.ndarray:
        return self._together([batch.weights_at(at) for batch, at in self._found])

    @cached_property
    def rows(self) -> pa.RecordBatch:
        schema = self.schema
        return pa.RecordBatch.from_arrays([self.column(i) for i in range(len(schema))], schema=schema)

    @property
    def schema(self) -> pa.Schema:
        return self._found[0][0].schema

    def column(self, i: int) -> pa.Array:
        columns = self.__dict__["_columns"]
        if i not in columns:
            columns[i] = self._gathered(i)
        return columns[i]

    def _gathered(self, i: int) -> pa.Array:
        back = self.__dict__["_back"]
        if back is None and len(self._found) == 1:
            batch, at = self._found[0]
            return batch.column_at(i, at)
        parts = _side_by_side(i, self._found)
        column = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
        return column if back is None else take_values(column, positions_of(back))

    def take(self, positions: np.ndarray) -> Batch:
        if len(positions) == len(self):
            return self
        if self.__dict__["_back"] is not None:
            return super().take(positions)
        shares, begin = [], 0
        for batch, at in self._found:
            first, last = positions.searchsorted((begin, begin + len(at)))
            if first < last:
                shares.append((batch, at[positions[first:last] - begin]))
            begin += len(at)
        return Found(shares or [(self._found[0][0], positions)])

    def _together(self, parts: list[np.ndarray]) -> np.ndarray:
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
        back = self.__dict__["_back"]
        return whole if back is None else whole[back]


def _side_by_side(i: int, shares: Sequence[tuple[Batch, np.ndarray]]) -> list[pa.Array]:
    """Column i at those positions, in parts, one after the other. Batches that have numbers, or text of few
    words, are one part: a call for each, of which a large run has many, takes longer than its rows.
    """
    data_type = shares[0][0].schema.field(i).type
    parts: list[pa.Array] = []
    numbers: list[tuple[Codes, np.ndarray]] = []
    texts: list[tuple[Words, np.ndarray]] = []

    def gather() -> None:
        if numbers:
            parts.append(of_numbers(numbers_at(numbers), data_type))
        if texts:
            parts.append(text_at(texts))
        numbers.clear()
        texts.clear()

    for batch, at in shares:
        codes = batch.coded(i)
        if codes is not None:
            if texts:
                gather()
            numbers.append((codes, at))
            continue
        column = batch.stored_column(i)
        words = column.words if isinstance(column, Narrow) else None
        if words is None:
            gather()
            parts.append(batch.column_at(i, at))
        else:
            if numbers:
                gather()
            texts.append((words, at))
    gather()
    return parts
