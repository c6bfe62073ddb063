"""Casts between numbers: Python's exact arithmetic says what they are, and ANSI what is out of range."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.calling import called

INTEGERS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
DOUBLE, FLOAT = pa.float64(), pa.float32()
EXACT = Context(prec=100)
longs = st.one_of(st.integers(-300, 300), st.integers(-(2**63), 2**63 - 1))
doubles = st.floats(allow_nan=True, allow_infinity=True)


def cast(array: pa.Array, target: pa.DataType, mode: str = "TRY") -> list[Any]:
    return called("cast", target, array, evalMode=mode, timeZoneId="UTC")


@given(st.lists(st.one_of(st.none(), longs), max_size=6), st.sampled_from(sorted(INTEGERS)))
def test_integers(values: list[int | None], width: int) -> None:
    bound = 1 << (width - 1)
    array = pa.array(values, pa.int64())
    assert cast(array, INTEGERS[width]) == [
        v if v is not None and -bound <= v < bound else None for v in values
    ]
    wrapped = [None if v is None else (v + bound) % (2 * bound) - bound for v in values]
    assert cast(array, INTEGERS[width], "LEGACY") == wrapped


@given(st.lists(doubles, max_size=6), st.sampled_from([32, 64]))
@example([2.0**63, -(2.0**63), 2147483647.9, -2147483648.9, float("nan")], 64)
@example([2147483647.9, 2147483648.0, -2147483648.9, -2147483649.0], 32)
def test_floats_towards_zero(values: list[float], width: int) -> None:
    bound = 1 << (width - 1)

    def expected(value: float) -> int | None:
        if not math.isfinite(value):
            return None
        if width == 64 and value == 2.0**63:
            return 2**63 - 1  # which Spark compares with (double) Long.MAX_VALUE
        return int(value) if -bound <= math.ceil(value) and math.floor(value) <= bound - 1 else None

    assert cast(pa.array(values, DOUBLE), INTEGERS[width]) == [expected(value) for value in values]


decimals = st.integers(-(10**20), 10**20).map(lambda n: Decimal(n).scaleb(-5, EXACT))


@given(st.lists(decimals, max_size=5), st.integers(0, 8), st.integers(8, 30))
def test_decimals_half_up(values: list[Decimal], scale: int, precision: int) -> None:
    array = pa.array(values, pa.decimal128(26, 5))
    rounded = [v.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, EXACT) for v in values]
    expected = [r if abs(r) < Decimal(10) ** (precision - scale) else None for r in rounded]
    assert cast(array, pa.decimal128(precision, scale)) == expected


@given(st.lists(decimals, max_size=5))
def test_decimals_as_other_numbers(values: list[Decimal]) -> None:
    array = pa.array(values, pa.decimal128(26, 5))
    assert cast(array, DOUBLE) == [float(value) for value in values]
    assert cast(array, pa.int64()) == [int(value) for value in values]
    assert cast(array, pa.bool_()) == [value != 0 for value in values]


@given(st.lists(st.integers(-(10**7), 10**7).map(lambda n: n / 1000), max_size=5), st.integers(0, 3))
def test_a_double_is_the_decimal_that_it_prints_as(values: list[float], scale: int) -> None:
    found = cast(pa.array(values, DOUBLE), pa.decimal128(20, scale))
    one = Decimal(1).scaleb(-scale)
    assert found == [Decimal(repr(value)).quantize(one, ROUND_HALF_UP) for value in values]


def test_doubles_at_the_edges() -> None:
    values = pa.array([2.675, 1e20, 0.1 + 0.2, -0.0, float("nan"), float("inf"), 1e22, None], DOUBLE)
    assert cast(values, pa.decimal128(22, 1)) == [
        Decimal("2.7"), Decimal(10) ** 20, Decimal("0.3"), Decimal(0), None, None, None, None,
    ]  # fmt: skip
    assert cast(pa.array([2.675]), pa.decimal128(5, 2)) == [Decimal("2.68")]
    assert cast(pa.array([float("nan"), float("inf")]), pa.decimal128(5, 2), "ANSI") == [None, None]


@given(st.lists(longs, max_size=5))
def test_to_floats(values: list[int]) -> None:
    array = pa.array(values, pa.int64())
    assert cast(array, DOUBLE) == [float(value) for value in values]
    assert cast(array, FLOAT) == np.array(values, np.int64).astype(np.float32).tolist()
    assert cast(array, pa.decimal128(38, 0)) == [Decimal(value) for value in values]
    assert cast(array, pa.bool_()) == [value != 0 for value in values]


def test_truth() -> None:
    truth = pa.array([True, False, None])
    assert cast(truth, pa.int32()) == cast(truth, DOUBLE) == cast(truth, pa.decimal128(3, 1)) == [1, 0, None]
    assert cast(pa.array([0.0, -0.0, 0.5]), pa.bool_()) == [False, False, True]


@pytest.mark.parametrize(
    ("array", "target", "condition"),
    [
        (pa.array([1, 128]), pa.int8(), "CAST_OVERFLOW"),
        (pa.array([1.0, 1e10]), pa.int32(), "CAST_OVERFLOW"),
        (pa.array([1.0, float("nan")]), pa.int64(), "CAST_OVERFLOW"),
        (pa.array([Decimal("1.0"), Decimal("99.9")]), pa.decimal128(2, 1), "NUMERIC_VALUE_OUT_OF_RANGE"),
        (pa.array([1, 1000]), pa.decimal128(4, 1), "NUMERIC_VALUE_OUT_OF_RANGE"),
    ],
)
def test_out_of_range(array: pa.Array, target: pa.DataType, condition: str) -> None:
    with pytest.raises(EvaluationError, match=condition) as raised:
        cast(array, target, "ANSI")
    assert raised.value.row == 1
    assert cast(array, target)[1] is None
    assert cast(array.slice(0, 1), target, "ANSI") == cast(array.slice(0, 1), target)
