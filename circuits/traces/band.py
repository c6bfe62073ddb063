"""Bands: which rows of an ordered trace a row of the other side can meet.

    low(y) <= x.c <= high(y)  ⇒  code(low(y)) <= code(x.c) <= code(high(y))        code = order_code

The rows of a key lie side by side, sorted by the code of one column. So those within bounds are a range of
sort keys. Codes are approximate: the range may have more rows than meet the condition, and never fewer. A row
within whose own two bounds a value must lie is found by an `IntervalBand`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import validity
from dbsp.circuits.columns.order_codes import order_code
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Expression, columns_of
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import LOW, of_placement, placements, with_low
from dbsp.circuits.traces.sorted_run import SortedRun

Ranges = tuple[np.ndarray, np.ndarray, np.ndarray]  # (row, start, stop)
# beyond the least and the greatest code
_BEFORE, _AFTER = -1, 1 << 32


class Asked(ABC):
    """What the rows of a batch ask of a trace: computed once, and looked up in any number of its runs."""

    batch: Batch

    @abstractmethod
    def matches(self, run: SortedRun) -> Ranges:
        """(i, start, stop): ranges of positions in the run, of the rows that row i of the batch may meet."""


class Band(ABC):
    """Over a trace that is ordered by `column`, for rows of the other side."""

    column: int
    is_closed: bool  # bounded on both sides

    @property
    @abstractmethod
    def bounds(self) -> tuple[Expression, ...]:
        """All that is computed of the other side's row; with a NULL among them it meets nothing."""

    @abstractmethod
    def orders(self, data_type: pa.DataType) -> bool:
        """Whether a trace that is ordered by a column of that type can be searched."""

    @abstractmethod
    def asked(self, batch: Batch) -> Asked:
        """What the rows of a batch of the other side can meet."""

    def asking(self, batch: Batch) -> pa.RecordBatch:
        """The batch's rows, as far as the bounds read them."""
        return batch.rows_of(self._read)

    @cached_property
    def _read(self) -> frozenset[int]:
        return frozenset(i for bound in self.bounds for i in columns_of(bound))


def asked(batch: Batch, band: Band | None) -> Asked:
    """`Band.asked`; without a band, all rows of the keys, by which the batch is placed."""
    if band is not None:
        return band.asked(batch)
    places, owner = placements(batch.keys)
    return Keys(batch, *of_placement(places), owner)


@dataclass(frozen=True)
class Keys(Asked):
    """least, greatest: `of_placement` of the batch's `placements`, of which row i's is owner[i]."""

    batch: Batch
    least: np.ndarray
    greatest: np.ndarray
    owner: np.ndarray | None

    def matches(self, run: SortedRun) -> Ranges:
        return run.met(self.least, self.greatest, self.owner)


@dataclass(frozen=True)
class Spans(Asked):
    """least, greatest: uint64[n], the sort keys of what row i can meet; (1, 0) where that is nothing."""

    batch: Batch
    least: np.ndarray
    greatest: np.ndarray

    def matches(self, run: SortedRun) -> Ranges:
        return run.met(self.least, self.greatest)


@dataclass(frozen=True)
class Several(Asked):
    """What all of them ask, of which no two meet the same row."""

    batch: Batch
    parts: tuple[Asked, ...]

    def matches(self, run: SortedRun) -> Ranges:
        none = np.zeros(0, np.int64)
        found = [(none, none, none), *(part.matches(run) for part in self.parts)]
        owner, start, stop = (np.concatenate([each[i] for each in found]) for i in range(3))
        return owner, start, stop


@dataclass(frozen=True)
class ValueBand(Band):
    """lower, upper: what the column must not be below, or above, over the other side's columns.

    under, over: at most and at least which it is met all the same, because the condition may fail there; not
    where that is NULL.
    """

    column: int
    lower: tuple[Expression, ...]
    upper: tuple[Expression, ...]
    under: tuple[Expression, ...] = ()
    over: tuple[Expression, ...] = ()

    @property
    def is_closed(self) -> bool:  # type: ignore[override]
        return bool(self.lower and self.upper)

    @property
    def bounds(self) -> tuple[Expression, ...]:
        return *self.lower, *self.upper, *self.under, *self.over

    def orders(self, data_type: pa.DataType) -> bool:
        return all(bound.type == data_type for bound in self.bounds)

    def asked(self, batch: Batch) -> Asked:
        rows = self.asking(batch)
        low, below = _codes(self.lower, rows, np.maximum, np.uint64(0))
        high, above = _codes(self.upper, rows, np.minimum, LOW)
        some = below & above & (low <= high)
        if not (self.under or self.over):
            return _spans(batch, low, high, some)
        # signed, so that there is a code before the first
        met = np.where(some, low, 1).astype(np.int64), np.where(some, high, 0).astype(np.int64)
        under = _furthest(self.under, rows, np.maximum, _BEFORE)
        over = _furthest(self.over, rows, np.minimum, _AFTER)
        parts = (_spans(batch, *codes) for codes in _each_once(*met, under, over))
        return Several(batch, tuple(part for part in parts if (part.least <= part.greatest).any()))


def _spans(batch: Batch, low: np.ndarray, high: np.ndarray, some: np.ndarray) -> Spans:
    """Of codes from low to high, where there are some."""
    least, greatest = (
        with_low(batch.keys, np.where(some, codes, 0).astype(np.uint64)) for codes in (low, high)
    )
    return Spans(batch, np.where(some, least, np.uint64(1)), np.where(some, greatest, np.uint64(0)))


def _each_once(
    low: np.ndarray, high: np.ndarray, under: np.ndarray, over: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(first, last, whether there are some): codes up to under, from low to high, and from over on."""
    some = low <= high
    below = some & (low - 1 <= under)
    under = np.where(below, np.maximum(under, high), under)
    above = some & ~below & (over <= high + 1)
    over = np.where(above, np.minimum(over, low), over)
    under = np.minimum(under, over - 1)
    none, all_ = np.zeros_like(under), np.full_like(over, _AFTER - 1)
    return [(none, under, under >= 0), (low, high, some & ~below & ~above), (over, all_, over < _AFTER)]


def _furthest(bounds: Iterable[Expression], rows: pa.RecordBatch, further: np.ufunc, none: int) -> np.ndarray:
    """int64[n]: the furthest bound's code; `none` where all are NULL. They never fail."""
    codes = np.full(rows.num_rows, none, np.int64)
    for bound in bounds:
        values = evaluate(bound, rows)
        codes = np.where(validity(values), further(codes, order_code(values).astype(np.int64)), codes)
    return codes


def _codes(
    bounds: Iterable[Expression], rows: pa.RecordBatch, nearer: np.ufunc, furthest: np.ndarray | np.uint64
) -> tuple[np.ndarray, np.ndarray]:
    """(the nearest bound's code uint64[n], whether none is NULL bool[n])."""
    codes = np.full(rows.num_rows, furthest)
    known = np.ones(rows.num_rows, dtype=np.bool_)
    for bound in bounds:
        try:
            values = evaluate(bound, rows)
        except EvaluationError:
            continue  # the condition itself is computed of pairs only: there may be none
        codes = nearer(codes, order_code(values).astype(np.uint64))
        known &= validity(values)
    return codes, known
