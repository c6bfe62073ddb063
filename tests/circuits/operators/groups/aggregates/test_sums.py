"""SUM and AVG from exact sums: rounded once, out of range where Spark says so."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.exact_sums import join_doubles, split_int64
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.groups.aggregates.sums import (
    Doubles,
    averages,
    exact_sum,
    require_fitting,
    sums,
)
from dbsp.circuits.operators.groups.state.accumulators import Digit, NarrowSum

integers = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6)


def digits_of(values: list[int]) -> np.ndarray:
    """int64[2, 1]: of one group."""
    return np.stack(split_int64(np.array(values, dtype=np.int64))).sum(axis=1)[:, None]


def half_up(value: Fraction, scale: int) -> Decimal:
    scaled = value * 10**scale
    whole = (abs(scaled.numerator) * 2 + scaled.denominator) // (2 * scaled.denominator)
    return Decimal(whole if scaled >= 0 else -whole).scaleb(-scale)


def one(array: pa.Array) -> object:
    (value,) = array.to_pylist()
    return value


YES = np.array([True])


@given(integers)
def test_a_sum_fits_or_is_null(values: list[int]) -> None:
    found, fits = sums(digits_of(values), YES, pa.int64())
    total = sum(values)
    assert bool(fits[0]) == (-(2**63) <= total < 2**63)
    assert one(found) == (total if fits[0] else None)


@given(integers)
def test_averages_round_once(values: list[int]) -> None:
    counts, mean = np.array([len(values)]), Fraction(sum(values), len(values))
    found, _ = averages(digits_of(values), counts, 0, YES, pa.float64())
    assert one(found) == float(sum(values)) / len(values)
    found, fits = averages(digits_of(values), counts, 4, YES, pa.decimal128(38, 4))
    assert fits.all() and one(found) == half_up(mean, 4)


def test_rounding_is_half_away_from_zero() -> None:
    for total, expected in ((1, "1"), (-1, "-1"), (3, "2"), (-3, "-2")):
        found, _ = averages(digits_of([total]), np.array([2]), 0, YES, pa.decimal128(38, 0))
        assert one(found) == Decimal(expected) == Decimal(total / 2).quantize(Decimal(1), ROUND_HALF_UP)


def test_nothing_is_null() -> None:
    no, none = np.array([False]), np.array([0])
    for data_type in (pa.int64(), pa.decimal128(38, 2), pa.duration("us")):
        assert one(sums(digits_of([]), no, data_type)[0]) is None
    for data_type in (pa.float64(), pa.decimal128(38, 2), pa.duration("us")):
        assert one(averages(digits_of([]), none, 0, no, data_type)[0]) is None


def test_the_first_group_out_of_range_is_named() -> None:
    valid = np.array([True, False, True])
    require_fitting(np.array([True, False, True]), valid, pa.int64())
    with pytest.raises(EvaluationError, match="BIGINT overflow") as error:
        require_fitting(np.array([True, False, False]), valid, pa.int64())
    assert error.value.row == 2


def test_digits_by_the_width_of_values() -> None:
    assert exact_sum(3, pa.int32()) == (NarrowSum(3),)
    assert exact_sum(3, pa.int64()) == (Digit(3, 0), Digit(3, 1))
    assert len(exact_sum(3, pa.decimal128(10, 2))) == 4


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), max_size=6))
def test_parts_of_doubles_are_the_values(values: list[float | None]) -> None:
    row, (index,), digit = Doubles().split([pa.array(values, pa.float64())])
    found = join_doubles(row, index, digit, len(values)).tolist()
    assert found == [value or 0.0 for value in values]
