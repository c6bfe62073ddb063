"""Accumulators: adding up, in any order and in any parts, from zero, gives what Python's own fold gives."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.exact_sums import normalize
from dbsp.circuits.columns.order_codes import from_order_bits
from dbsp.circuits.operators.groups.state.accumulators import (
    Accumulator,
    Digit,
    Greatest,
    Least,
    NarrowSum,
    Values,
)

Listing = list[tuple[Any, int]]

wide = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))
narrow = st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1))


def listings(values: st.SearchStrategy[Any], least: int = -2) -> st.SearchStrategy[Listing]:
    return st.lists(st.tuples(values, st.integers(least, 2)), max_size=8)


def added(accumulator: Accumulator, listing: Listing, data_type: pa.DataType) -> int:
    """Row by row, from zero."""
    rows = pa.RecordBatch.from_arrays([pa.array([value for value, _ in listing], data_type)], ["x"])
    weights = np.array([weight for _, weight in listing], dtype=np.int64)
    values = accumulator.of_rows(rows, weights)
    return int(reduce(accumulator.add, values, np.int64(accumulator.zero)))


@given(listings(wide))
def test_values_are_counted(listing: Listing) -> None:
    assert added(Values(0), listing, pa.int64()) == sum(w for value, w in listing if value is not None)


@given(listings(narrow))
def test_narrow_values_are_summed(listing: Listing) -> None:
    expected = sum(value * w for value, w in listing if value is not None)
    assert added(NarrowSum(0), listing, pa.int32()) == expected


def valued(digits: list[int]) -> int:
    limbs = normalize(np.array(digits, dtype=np.int64)[:, None])[:, 0].tolist()
    return sum(int(limb) << 32 * j for j, limb in enumerate(limbs))


@given(listings(wide))
def test_digits_are_the_exact_sum_of_integers(listing: Listing) -> None:
    digits = [added(Digit(0, j), listing, pa.int64()) for j in range(2)]
    assert valued(digits) == sum(value * w for value, w in listing if value is not None)


@given(listings(st.one_of(st.none(), st.integers(-(10**37), 10**37))))
def test_digits_are_the_exact_sum_of_decimals(listing: Listing) -> None:
    decimals = [(None if value is None else Decimal(value), w) for value, w in listing]
    digits = [added(Digit(0, j), decimals, pa.decimal128(38, 0)) for j in range(4)]
    assert valued(digits) == sum(value * w for value, w in listing if value is not None)


@pytest.mark.parametrize(("accumulator", "best"), [(Least(0), min), (Greatest(0), max)])
@given(listing=listings(wide, least=1))
def test_extremes(accumulator: Accumulator, best: Callable[..., Any], listing: Listing) -> None:
    values = [value for value, _ in listing if value is not None]
    found = added(accumulator, listing, pa.int64())
    valid = np.array([bool(values)])
    (extreme,) = from_order_bits(np.array([found]), valid, pa.int64()).to_pylist()
    assert extreme == (best(values) if values else None)


@pytest.mark.parametrize("accumulator", [Values(0), NarrowSum(0), Digit(0, 1), Least(0), Greatest(0)])
@given(listing=listings(narrow, least=1), other=listings(narrow, least=1))
def test_parts_add_up(accumulator: Accumulator, listing: Listing, other: Listing) -> None:
    data_type = pa.int64() if isinstance(accumulator, Digit) else pa.int32()
    one, two = added(accumulator, listing, data_type), added(accumulator, other, data_type)
    assert accumulator.add(one, two) == added(accumulator, [*other, *listing], data_type)
    assert accumulator.add(one, accumulator.zero) == one


@pytest.mark.parametrize("accumulator", [Values(0), NarrowSum(0), Digit(0, 0), Digit(0, 1)])
@given(listing=listings(narrow))
def test_what_is_retracted_leaves_nothing(accumulator: Accumulator, listing: Listing) -> None:
    data_type = pa.int64() if isinstance(accumulator, Digit) else pa.int32()
    back = [(value, -weight) for value, weight in listing]
    assert added(accumulator, [*listing, *back], data_type) == accumulator.zero
