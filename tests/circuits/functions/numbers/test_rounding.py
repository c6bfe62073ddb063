"""ROUND and BROUND, of the decimal that a number prints as: Python's decimal says what that is."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.library import find
from dbsp.circuits.functions.numbers.rounding import round_floating
from tests.circuits.functions.calling import call, called

EXACT = Context(prec=800)
ties = st.tuples(st.integers(-(10**6), 10**6), st.integers(0, 4)).map(lambda t: (t[0] + 0.5) / 10 ** t[1])
doubles = st.one_of(ties, st.floats(allow_nan=False, allow_infinity=False))


def rounded(value: Decimal, places: int, how: str) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-places), how, EXACT)


@given(st.lists(doubles, max_size=6), st.integers(-5, 25), st.booleans())
@example([2.675, 1.005, 0.5, 1.5, 2.5, -0.5, 1e300, 5e-324, 9007199254740993.0], 2, False)
@example([25.0, 35.0, -25.0, 1e22], -1, True)
def test_doubles(values: list[float], places: int, to_even: bool) -> None:
    how = ROUND_HALF_EVEN if to_even else ROUND_HALF_UP
    found = round_floating(np.array(values, np.float64), places, to_even)
    assert found.tolist() == [float(rounded(Decimal(repr(value)), places, how)) for value in values]
    assert not np.signbit(found[found == 0]).any(), "a decimal has no −0"


def test_what_is_no_number_stays() -> None:
    found = round_floating(np.array([np.nan, np.inf, -np.inf]), 2, to_even=False)
    assert np.isnan(found[0]) and found[1:].tolist() == [np.inf, -np.inf]


def places(n: int) -> pa.Scalar:
    return pa.scalar(n, pa.int32())


@given(st.lists(st.one_of(st.none(), st.integers(-(10**18), 10**18)), max_size=5), st.integers(-20, 2))
def test_integers(values: list[int | None], n: int) -> None:
    for name, how in (("round", ROUND_HALF_UP), ("b_round", ROUND_HALF_EVEN)):
        found = called(name, pa.int64(), pa.array(values, pa.int64()), places(n))
        assert found == [None if v is None else int(rounded(Decimal(v), n, how)) for v in values]


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63)])
def test_integers_that_round_to_an_overflow(value: int) -> None:
    array = pa.array([None, value], pa.int64())
    with pytest.raises(EvaluationError, match="ARITHMETIC_OVERFLOW") as raised:
        called("round", pa.int64(), array, places(-1), ansiEnabled=True)
    assert raised.value.row == 1


decimals = st.one_of(st.none(), st.integers(-(10**10) + 1, 10**10 - 1).map(lambda n: Decimal(n).scaleb(-3)))


@given(st.lists(decimals, max_size=5), st.integers(-9, 4))
def test_decimals(values: list[Any], n: int) -> None:
    scale = max(n, 0)
    target = pa.decimal128(12, min(scale, 3))
    array = pa.array(values, pa.decimal128(10, 3))
    for name, how in {
        "round": ROUND_HALF_UP,
        "b_round": ROUND_HALF_EVEN,
        "round_floor": ROUND_FLOOR,
        "round_ceil": ROUND_CEILING,
    }.items():
        found = called(name, target, array, places(n))
        assert found == [None if v is None else rounded(v, min(n, 3), how) for v in values], name


def test_a_number_of_places_that_is_null_or_none() -> None:
    assert called("round", pa.float64(), pa.array([1.5]), pa.scalar(None, pa.int32())) == [None]
    function = find("round")
    assert function is not None
    columns = call("round", pa.float64(), pa.array([1.5]), pa.array([1], pa.int32()))
    assert function.refuse(columns) == "a number of places that is not a constant"
