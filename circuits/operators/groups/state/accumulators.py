"""Accumulators: an int64 a group, to which each row adds, in an order that doesn't matter.

    accumulator[g] = zero + a(x₁) + a(x₂) + …        + is `add`: associative, commutative, with `zero`

Sums have inverses, so that a row of weight −1 takes back what it added. Minima and maxima have none: they are
for what is never retracted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import fixed_values, validity
from dbsp.circuits.columns.exact_sums import split_decimal, split_int64
from dbsp.circuits.columns.order_codes import order_bits


@dataclass(frozen=True)
class Accumulator(ABC):
    """Of the values of column `column`; NULLs add nothing."""

    column: int

    zero: ClassVar[int] = 0
    add: ClassVar[np.ufunc] = np.add

    @property
    @abstractmethod
    def word(self) -> str:
        """Its name for people."""

    @abstractmethod
    def of(self, array: pa.Array, weights: np.ndarray) -> np.ndarray:
        """int64[n]: what each value, times its weight, adds; anything where it is NULL."""

    def of_rows(self, rows: pa.RecordBatch, weights: np.ndarray) -> np.ndarray:
        """int64[n]: what each row, times its weight, adds to its group."""
        array = rows.column(self.column)
        added = self.of(array, weights)
        return added if not array.null_count else np.where(validity(array), added, self.zero)


class Values(Accumulator):
    """How many values there are."""

    word = "count"

    def of(self, array: pa.Array, weights: np.ndarray) -> np.ndarray:
        return weights


class NarrowSum(Accumulator):
    """Their sum; they have at most 32 bits each."""

    word = "value"

    def of(self, array: pa.Array, weights: np.ndarray) -> np.ndarray:
        return np.asarray(fixed_values(array).astype(np.int64) * weights)


@dataclass(frozen=True)
class Digit(Accumulator):
    """One digit of the exact sum of 64-bit integers or decimals: digit · 2^(32 position)."""

    position: int

    @property
    def word(self) -> str:
        return f"digit{self.position}"

    def of(self, array: pa.Array, weights: np.ndarray) -> np.ndarray:
        split = split_decimal(array) if pt.is_decimal(array.type) else split_int64(fixed_values(array))
        return np.asarray(split[self.position] * weights)


class _Extreme(Accumulator):
    """The order bits of one of the values; no row has a negative weight."""

    def of(self, array: pa.Array, weights: np.ndarray) -> np.ndarray:
        return order_bits(array)


class Least(_Extreme):
    word = "min"
    zero = np.iinfo(np.int64).max
    add = np.minimum


class Greatest(_Extreme):
    word = "max"
    zero = np.iinfo(np.int64).min
    add = np.maximum
