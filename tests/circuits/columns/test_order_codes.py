"""Order codes compare as the values do, as Spark orders them: NaN above all, -0.0 as 0.0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.order_codes import from_order_bits, has_order_bits, order_bits, order_code
from tests.generators.columns.zsets import TYPES, VALUES

NESTED = (pa.types.is_list, pa.types.is_map, pa.types.is_struct)
ORDERED = [kind for kind in TYPES if not any(test(kind) for test in NESTED)]


def before(a: Any, b: Any) -> bool:
    """a < b in Spark's order."""
    if isinstance(a, float):
        less: bool = not math.isnan(a) and (math.isnan(b) or a < b)
        return less
    if isinstance(a, str):
        return a.encode() < b.encode()
    return bool(a < b)


def check_monotone(codes: list[int], values: list[Any], exact: bool) -> None:
    for a, x in zip(codes, values, strict=True):
        for b, y in zip(codes, values, strict=True):
            if before(x, y):
                assert a < b if exact else a <= b, (x, y)
            elif not before(y, x) and exact:
                assert a == b, (x, y)


@pytest.mark.parametrize("data_type", ORDERED, ids=str)
def test_codes_follow_the_order_of_each_type(data_type: pa.DataType) -> None:
    array = pa.array(VALUES[data_type], data_type)
    check_monotone(order_code(array).tolist(), VALUES[data_type], exact=False)
    if has_order_bits(data_type):
        check_monotone(order_bits(array).tolist(), VALUES[data_type], exact=True)


@pytest.mark.slow
@given(st.lists(st.floats(), max_size=12))
def test_doubles(values: list[float]) -> None:
    array = pa.array(values, pa.float64())
    check_monotone(order_code(array).tolist(), values, exact=False)
    check_monotone(order_bits(array).tolist(), values, exact=True)
    back = from_order_bits(order_bits(array), np.ones(len(values), np.bool_), pa.float64()).to_pylist()
    assert all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(back, values, strict=True))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=12))
def test_integers(values: list[int]) -> None:
    array = pa.array(values, pa.int64())
    check_monotone(order_code(array).tolist(), values, exact=False)
    assert order_bits(array).tolist() == values


@given(st.lists(st.text(max_size=6), max_size=12))
def test_strings(values: list[str]) -> None:
    check_monotone(order_code(pa.array(values, pa.string())).tolist(), values, exact=False)


@pytest.mark.parametrize("data_type", list(filter(has_order_bits, ORDERED)), ids=str)
def test_order_bits_lose_nothing(data_type: pa.DataType) -> None:
    values = [*VALUES[data_type], None]
    array = pa.array(values, data_type)
    valid = np.array([value is not None for value in values])
    back = from_order_bits(order_bits(array), valid, data_type)
    assert back.type == data_type
    assert repr(back.to_pylist()) == repr(
        [0.0 if value == 0.0 and isinstance(value, float) else value for value in array.to_pylist()]
    )
