"""DECIMAL arithmetic over unscaled integers is Python's decimal arithmetic, of 38 digits and more."""

from __future__ import annotations

import decimal
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.expressions.vectors import decimals as d

EXACT = decimal.Context(prec=200)
small = st.integers(-(10**6), 10**6)
large = st.one_of(
    small, st.integers(-(10**38) + 1, 10**38 - 1), st.sampled_from([2**63 - 1, -(2**63), 2**64])
)


def numbers(values: list[int]) -> np.ndarray:
    """As a column has them: int64 where all fit."""
    fit = all(-(2**63) < value < 2**63 for value in values)
    return np.array(values, dtype=np.int64 if fit else object)


pairs = st.lists(st.tuples(large, large), min_size=1, max_size=5)


@given(st.lists(st.one_of(st.none(), large), max_size=6), st.integers(0, 38))
def test_unscaled_values_and_back(values: list[int | None], scale: int) -> None:
    data_type = pa.decimal128(38, scale)
    exact = [None if value is None else Decimal(value).scaleb(-scale, EXACT) for value in values]
    for array in (pa.array(exact, data_type), pa.array([*exact, None], data_type).slice(0, len(exact))):
        found = d.unscaled(array)
        assert [int(value) for value in found.values] == [value or 0 for value in values]
        null = None if found.valid is None else ~found.valid
        assert d.decimal_array(found.values, data_type, null).equals(array)


@given(pairs)
@example([(2**31, 2**31), (2**32, 2**31)])
@example([(2**63 - 1, 1)])
def test_sums_and_products_are_exact(listed: list[tuple[int, int]]) -> None:
    a, b = (numbers([pair[i] for pair in listed]) for i in range(2))
    assert [int(v) for v in d.add(a, b)] == [x + y for x, y in listed]
    assert [int(v) for v in d.multiply(a, b)] == [x * y for x, y in listed]


@given(pairs)
def test_quotients(listed: list[tuple[int, int]]) -> None:
    listed = [(x, y or 1) for x, y in listed]
    a, b = (numbers([pair[i] for pair in listed]) for i in range(2))
    quotient, rest = d.divide_truncated(a, b)
    expected = [
        (EXACT.divide_int(Decimal(x), Decimal(y)), EXACT.remainder(Decimal(x), Decimal(y))) for x, y in listed
    ]
    assert [(int(q), int(r)) for q, r in zip(quotient, rest, strict=True)] == expected
    rounded = [
        int(EXACT.divide(Decimal(x), Decimal(y)).quantize(Decimal(1), ROUND_HALF_UP, EXACT))
        for x, y in listed
    ]
    assert [int(v) for v in d.divide_half_up(a, b)] == rounded


def half_up(value: int, places: int) -> int:
    """value · 10^places"""
    return int(Decimal(value).scaleb(places, EXACT).quantize(Decimal(1), ROUND_HALF_UP, EXACT))


@given(st.lists(large, min_size=1, max_size=5), st.integers(0, 20), st.integers(0, 20))
@example([5, -5, 4, -15], 1, 0)
def test_rescaling(values: list[int], scale: int, new_scale: int) -> None:
    found = d.rescale(numbers(values), scale, new_scale)
    assert [int(v) for v in found] == [half_up(value, new_scale - scale) for value in values]


@given(st.lists(st.tuples(large, st.integers(-60, 40)), min_size=1, max_size=5))
@example([(5, -1), (-5, -1), (1, 18), (1, 19)])
def test_each_row_by_places_of_its_own(listed: list[tuple[int, int]]) -> None:
    values, places = numbers([v for v, _ in listed]), np.array([p for _, p in listed])
    assert [int(v) for v in d.shift_half_up(values, places)] == [half_up(v, p) for v, p in listed]


@given(st.lists(large, max_size=5), st.integers(1, 38))
@example([999, 1000, -999, -1000], 3)
def test_what_fits(values: list[int], precision: int) -> None:
    array = numbers(values)
    assert d.fits(array, precision).tolist() == [len(str(abs(value))) <= precision for value in values]
    assert d.magnitude(array) == max(map(abs, values), default=0)


@pytest.mark.parametrize(
    ("value", "scale", "text"),
    [(0, 2, "0.00"), (-5, 3, "-0.005"), (12345, 2, "123.45"), (-7, 0, "-7"), (10**20, 0, "1" + "0" * 20)],
)
def test_shown(value: int, scale: int, text: str) -> None:
    assert d.show(value, scale) == text
    assert Decimal(text) == Decimal(value).scaleb(-scale)


def test_a_constant_is_one_value() -> None:
    found = d.unscaled(pa.scalar(Decimal("1.50"), pa.decimal128(5, 2)))
    assert (found.values.tolist(), found.is_constant) == ([150], True)
    assert d.power_of_ten(18).dtype == np.int64 and d.power_of_ten(19).tolist() == [10**19]
