"""SUM and AVG, from exact sums, so that they survive retraction and depend on no order.

    sum = Σ x        avg = Σ x / n        each rounded once

Of integers and decimals a sum is a few accumulators, its digits; of doubles it is parts, as many as the range
of the group's values has digits for.
Source: Spark's types of results, and its errors where one is out of range.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import every, fixed_values, from_fixed_values, type_name, validity
from dbsp.circuits.columns.exact_sums import (
    divide_half_up,
    join_doubles,
    split_doubles,
    split_int64,
    to_decimal,
    to_double,
    to_int64,
)
from dbsp.circuits.columns.forms.months import fitting
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.groups.aggregates.function import Accumulated
from dbsp.circuits.operators.groups.state.accumulators import Accumulator, Digit, NarrowSum
from dbsp.circuits.operators.groups.state.members import Split
from dbsp.circuits.operators.groups.state.sides import Sides

Fitting = tuple[pa.Array, np.ndarray]  # results, and bool[n]: which of them fit their type


def exact_sum(column: int, data_type: pa.DataType) -> tuple[Accumulator, ...]:
    """The accumulators that hold the sum of a column of integers, decimals or intervals."""
    if not pt.is_decimal(data_type) and data_type.bit_width < 64:
        return (NarrowSum(column),)
    return tuple(Digit(column, i) for i in range(4 if pt.is_decimal(data_type) else 2))


@dataclass(frozen=True)
class _OfDigits(Accumulated):
    """lenient: NULL where the result is out of range, instead of an error."""

    lenient: bool = False

    def finalize(self, sides: Sides, there: np.ndarray, data_type: pa.DataType) -> pa.Array:
        counts = self.counts(sides)
        valid = there & (counts > 0)
        sums = self.sums(sides)
        digits = np.stack(split_int64(sums[0]) if len(sums) == 1 else sums)
        result, fits = self._of(digits, counts, valid, data_type)
        if not self.lenient:
            require_fitting(fits, valid, data_type)
        return result

    @abstractmethod
    def _of(
        self, digits: np.ndarray, counts: np.ndarray, valid: np.ndarray, data_type: pa.DataType
    ) -> Fitting:
        """digits: int64[L, groups], of exact sums."""


@dataclass(frozen=True)
class Sum(_OfDigits):
    """Of integers, decimals or intervals; NULL without values. parts: `exact_sum`."""

    def _of(
        self, digits: np.ndarray, counts: np.ndarray, valid: np.ndarray, data_type: pa.DataType
    ) -> Fitting:
        return sums(digits, valid, data_type)


@dataclass(frozen=True)
class Average(_OfDigits):
    """The same, divided by the number of values. scale: how many more decimal places than a value has."""

    scale: int = 0

    def _of(
        self, digits: np.ndarray, counts: np.ndarray, valid: np.ndarray, data_type: pa.DataType
    ) -> Fitting:
        return averages(digits, counts, self.scale, valid, data_type)


def sums(digits: np.ndarray, valid: np.ndarray, data_type: pa.DataType) -> Fitting:
    """Exact sums as values of a type; NULL where not valid, or not fitting."""
    if pt.is_decimal(data_type):
        return to_decimal(digits, data_type, valid)
    values, fits = _integers(digits, data_type)
    found = from_fixed_values(values, pa.int64(), ~(valid & fits))
    return found if data_type == pa.int64() else found.cast(data_type), fits


def averages(
    digits: np.ndarray, counts: np.ndarray, scale: int, valid: np.ndarray, data_type: pa.DataType
) -> Fitting:
    """Exact sums by counts, as values of a type; NULL where not valid, or not fitting."""
    counts = np.where(valid, counts, 1)
    if pt.is_floating(data_type):
        average = from_fixed_values(to_double(digits) / counts, pa.float64(), ~valid)
        return average, np.ones(len(counts), np.bool_)
    if pt.is_duration(data_type):
        # Spark divides a sum that must fit
        _, fits = _integers(digits, data_type)
        units, _ = to_int64(divide_half_up(digits, 0, counts)[:2])
        return from_fixed_values(units, data_type, ~(valid & fits)), fits
    return to_decimal(divide_half_up(digits, scale, counts), data_type, valid)


def require_fitting(fits: np.ndarray, valid: np.ndarray, data_type: pa.DataType) -> None:
    """Raise EvaluationError at the first valid result that doesn't fit its type."""
    if not every(fits | ~valid):
        message = f"{type_name(data_type)} overflow."
        raise EvaluationError("ARITHMETIC_OVERFLOW", message, int(np.argmin(fits | ~valid)))


def _integers(digits: np.ndarray, data_type: pa.DataType) -> tuple[np.ndarray, np.ndarray]:
    values, fits = to_int64(digits)
    return values, fits & fitting(values, data_type)


@dataclass(frozen=True)
class Doubles(Split):
    """A double ↦ the digits of its exact sum, up to three, so that a group's state is as wide as the range of
    its values.
    """

    index: ClassVar[tuple[str, ...]] = ("index",)

    def split(self, columns: list[pa.Array]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        (column,) = columns
        values = np.where(validity(column), fixed_values(column), 0.0).astype(np.float64)
        position, index, digit = split_doubles(values)
        return position, [index], digit


@dataclass(frozen=True)
class DoubleSum(Accumulated):
    """Of doubles; NULL without values. trace: the number of the integral of `Doubles`."""

    trace: int = 0

    def finalize(self, sides: Sides, there: np.ndarray, data_type: pa.DataType) -> pa.Array:
        none = ~(there & (self.counts(sides) > 0))
        return from_fixed_values(self._totals(sides), pa.float64(), none)

    def _totals(self, sides: Sides) -> np.ndarray:
        members = sides.members(self.trace)
        index, digit = (fixed_values(column) for column in members.columns)
        return join_doubles(members.owner, index, digit, members.count)


@dataclass(frozen=True)
class DoubleAverage(DoubleSum):
    """The same, divided by the number of values."""

    def finalize(self, sides: Sides, there: np.ndarray, data_type: pa.DataType) -> pa.Array:
        counts = self.counts(sides)
        valid = there & (counts > 0)
        return from_fixed_values(self._totals(sides) / np.where(valid, counts, 1), pa.float64(), ~valid)
