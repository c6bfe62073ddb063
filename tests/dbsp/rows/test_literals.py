"""Python values become a column's values unchanged, or are refused with the reason."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.rows.casting import Refused
from dbsp.rows.literals import array_of, nearest_float

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
ZONED, PLAIN = pa.timestamp("us", "UTC"), pa.timestamp("us")


@given(st.sampled_from(INTEGERS), st.one_of(st.integers(-(2**65), 2**65), st.floats(), st.booleans()))
def test_integers_are_those_that_the_type_has(data_type: pa.DataType, value: Any) -> None:
    bound = 1 << (data_type.bit_width - 1)
    fits = not isinstance(value, bool) and math.isfinite(value) and -bound <= value < bound and value % 1 == 0
    if fits:
        assert array_of([value, None], data_type).to_pylist() == [value, None]
    else:
        with pytest.raises(Refused):
            array_of([value], data_type)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (1.5, "it has a fraction"),
        (math.nan, "it is no finite number"),
        (Decimal("Infinity"), "it is no finite number"),
    ],
)
def test_why_it_is_no_integer(value: Any, why: str) -> None:
    with pytest.raises(Refused, match=why):
        array_of([value], pa.int64())


@given(st.one_of(st.integers(), st.decimals(allow_nan=False), st.floats(allow_nan=False)))
def test_doubles_are_the_nearest_of_decimals_and_integers_themselves(value: Any) -> None:
    try:
        nearest = float(value)
    except OverflowError:
        nearest = math.inf
    invented = math.isinf(nearest) and (isinstance(value, int) or math.isfinite(value))
    if invented or (isinstance(value, int) and nearest != value):
        with pytest.raises(Refused, match=r"rounded|beyond the range"):
            array_of([value], pa.float64())
    else:
        assert array_of([value], pa.float64()).to_pylist() == [nearest]


def test_the_nearest_float() -> None:
    assert nearest_float(Decimal("Infinity")) == math.inf
    with pytest.raises(ValueError, match="beyond the range of a DOUBLE"):
        nearest_float(Decimal("1e400"))


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6))
def test_a_decimal_of_a_float_is_its_shortest_spelling(value: float) -> None:
    data_type, spelled = pa.decimal128(38, 18), Decimal(repr(value))
    if int(spelled.as_tuple().exponent) >= -18:
        assert array_of([value], data_type).to_pylist() == [spelled]
    else:
        with pytest.raises(Refused, match="digits after the point"):
            array_of([value], data_type)


def test_floats_of_32_bits() -> None:
    assert array_of([0.1, math.inf, 1], pa.float32()).to_pylist() == [np.float32(0.1), math.inf, 1]
    with pytest.raises(Refused, match="beyond the range of a FLOAT"):
        array_of([1e300], pa.float32())
    with pytest.raises(Refused, match="would be rounded"):
        array_of([2**24 + 1], pa.float32())


def test_times() -> None:
    noon = datetime(2024, 7, 1, 12)
    assert array_of([noon, date(2024, 7, 1)], PLAIN).to_pylist() == [noon, datetime(2024, 7, 1)]
    (there,) = array_of([noon], ZONED, "Europe/Berlin").to_pylist()
    assert there == datetime(2024, 7, 1, 10, tzinfo=UTC)
    assert array_of([np.datetime64("2024-07-01T12", "h")], PLAIN).to_pylist() == [noon]
    with pytest.raises(Refused, match="drop the zone"):
        array_of([noon.replace(tzinfo=UTC)], PLAIN)
    with pytest.raises(Refused, match="finer than a microsecond"):
        array_of([np.timedelta64(1, "ns")], pa.duration("us"))
    assert array_of([timedelta(seconds=1)], pa.duration("us")).to_pylist() == [timedelta(seconds=1)]


def test_months() -> None:
    found = array_of([14, None, pa.MonthDayNano([3, 0, 0])], MONTHS)
    assert found.cast(pa.int64()).to_pylist() == [14, None, 3]
    for value, why in ((pa.MonthDayNano([1, 2, 0]), "days or a time"), (2**31, "32 bits of months")):
        with pytest.raises(Refused, match=why):
            array_of([value], MONTHS)


@pytest.mark.parametrize(
    ("value", "data_type", "why"),
    [
        ("1", pa.int64(), "give an int, not str"),
        (1, pa.string(), "give a str, not int"),
        ("x", pa.binary(), "give bytes, not str"),
        (True, pa.float64(), "give a float, not bool"),
        (1, pa.bool_(), "give True or False, not int"),
        (datetime(2024, 1, 1), pa.date32(), r"give a datetime\.date, not datetime"),
        ({1}, pa.list_(pa.int64()), "give a list, not set"),
        ([1, "x"], pa.list_(pa.int64()), "give an int, not str"),
        ((1, 2), pa.struct([("a", pa.int64())]), "a struct of 1 fields has 2 values"),
        ({"b": 1}, pa.struct([("a", pa.int64())]), "unknown field 'b'; fields: a"),
    ],
)
def test_what_is_refused(value: Any, data_type: pa.DataType, why: str) -> None:
    with pytest.raises(Refused, match=why):
        array_of([value], data_type)


def test_nested_values() -> None:
    row = pa.struct([("a", pa.int64()), ("b", pa.list_(pa.float64()))])
    given_ = [{"a": 1.0}, (2, [1]), None]
    assert array_of(given_, row).to_pylist() == [{"a": 1, "b": None}, {"a": 2, "b": [1.0]}, None]
    pairs = pa.map_(pa.string(), pa.int64())
    assert array_of([{"x": 1}, [("y", 2)]], pairs).to_pylist() == [[("x", 1)], [("y", 2)]]
