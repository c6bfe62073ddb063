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
class ValueBand(Band):
    """lower, upper: what the column must not be below, or above, over the other side's columns."""

    column: int
    lower: tuple[Expression, ...]
    upper: tuple[Expression, ...]

    @property
    def is_closed(self) -> bool:  # type: ignore[override]
        return bool(self.lower and self.upper)

    @property
    def bounds(self) -> tuple[Expression, ...]:
        return *self.lower, *self.upper

    def orders(self, data_type: pa.DataType) -> bool:
        return all(bound.type == data_type for bound in self.bounds)

    def asked(self, batch: Batch) -> Asked:
        rows = self.asking(batch)
        low, below = _codes(self.lower, rows, np.maximum, np.uint64(0))
        high, above = _codes(self.upper, rows, np.minimum, LOW)
        some = below & above & (low <= high)
        least, greatest = with_low(batch.keys, low), with_low(batch.keys, high)
        return Spans(batch, np.where(some, least, np.uint64(1)), np.where(some, greatest, np.uint64(0)))


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
