"""Arrow values become a column's values unchanged, or are refused with the reason and the first of them."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.months import CALENDAR, MONTHS
from dbsp.circuits.columns.variants.type import VARIANT
from dbsp.rows.casting import Refused, cast_array, first_refused, kind, limits

NUMBERS = {
    pa.int8(): st.integers(-128, 127),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.decimal128(9, 2): st.decimals(-9_999_999, 9_999_999, places=2),
}


def exact(value: Any, target: pa.DataType) -> Any:
    """The value in the type, by Python's own arithmetic; None: it has none."""
    if isinstance(value, float) and not math.isfinite(value):
        return value if pa.types.is_floating(target) else None
    number = Fraction(value)
    if pa.types.is_integer(target):
        bound = 1 << (target.bit_width - 1)
        return int(number) if number % 1 == 0 and -bound <= number < bound else None
    if pa.types.is_decimal(target):
        scaled = number * 10**target.scale
        return Decimal(value) if scaled % 1 == 0 and abs(scaled) < 10**target.precision else None
    found = pa.scalar(float(value), pa.float64()).cast(target).as_py()
    return found if math.isfinite(found) and Fraction(found) == number else None


@given(st.data(), st.sampled_from(list(NUMBERS)), st.sampled_from(list(NUMBERS)))
def test_a_number_is_itself_or_refused(data: Any, source: pa.DataType, target: pa.DataType) -> None:
    value = data.draw(NUMBERS[source])
    given_ = pa.array([value, None], source)
    mixed = {kind(source), kind(target)} == {"decimal", "float"}
    expected = exact(given_[0].as_py(), target) if not mixed else None
    try:
        found = cast_array(given_, target)
    except Refused as refused:
        assert expected is None or source == target or math.isinf(float(value)), refused
        return
    assert found.type == target
    assert found[1].as_py() is None
    if mixed:  # a decimal is meant as the float that is spelled like it
        spelled = given_.cast(pa.string())[0].as_py()
        read = target.to_pandas_dtype()(spelled) if kind(target) == "float" else Decimal(spelled)
        assert found[0].as_py() == read
    elif isinstance(expected, float) and math.isnan(expected):
        assert math.isnan(found[0].as_py())
    else:
        assert found[0].as_py() == expected


@given(st.lists(st.integers(-300, 300)))
def test_the_first_that_is_refused(values: list[int]) -> None:
    bad = [i for i, value in enumerate(values) if not -128 <= value <= 127]
    array = pa.array(values, pa.int64())
    if bad:
        assert first_refused(array, pa.int8()) == bad[0]
        with pytest.raises(Refused, match="it is beyond -128 to 127"):
            cast_array(array, pa.int8())
    else:
        assert cast_array(array, pa.int8()).to_pylist() == values


def test_times() -> None:
    noon = datetime(2024, 7, 1, 12)
    zoned, plain = pa.timestamp("us", "UTC"), pa.timestamp("us")
    found = cast_array(pa.array([noon], pa.timestamp("s")), zoned, "Europe/Berlin")
    assert found.to_pylist() == [datetime(2024, 7, 1, 10, tzinfo=UTC)]
    assert cast_array(pa.array([19905], pa.date32()), plain).to_pylist() == [datetime(2024, 7, 1)]
    with pytest.raises(Refused, match="drop the zone"):
        cast_array(pa.array([noon], zoned), plain)
    # the hour that is there twice, and the one that isn't there
    hours = pa.array([datetime(2024, 10, 27, 2, 30), datetime(2024, 3, 31, 2, 30)], plain)
    assert [each.hour for each in cast_array(hours, zoned, "Europe/Berlin").to_pylist()] == [0, 1]


@pytest.mark.parametrize(
    ("values", "target", "why"),
    [
        (pa.array(["1"]), pa.int64(), "string is no integer; cast it"),
        (pa.array([1]), pa.string(), "int64 is no string; cast it"),
        (pa.array([True]), pa.int64(), "bool is no integer; cast it"),
        (pa.array([[1]]), pa.struct([("a", pa.int64())]), "is no struct; cast it"),
        (pa.array([{"a": 1}]), pa.struct([("b", pa.int64())]), "it has the fields a, not b"),
        (pa.array([{"a": 1}]), pa.struct([("a", pa.int64()), ("b", pa.int64())]), "the fields a, not a, b"),
        (pa.array([1], pa.duration("s")), MONTHS, "is no interval of months; cast it"),
        (pa.array([1 << 40]), MONTHS, "it is beyond -2147483648 to 2147483647"),
        (pa.array([0.1]), pa.float32(), "double would be rounded; cast it"),
    ],
)
def test_what_is_refused(values: pa.Array, target: pa.DataType, why: str) -> None:
    with pytest.raises(Refused, match=why):
        cast_array(values, target)


def test_fields_go_by_name_and_elements_are_cast() -> None:
    given_ = pa.array([{"b": 2, "a": [1]}, None])
    target = pa.struct([("a", pa.list_(pa.int8())), ("b", pa.float64())])
    assert cast_array(given_, target).to_pylist() == [{"a": [1], "b": 2.0}, None]


def test_kinds() -> None:
    of = {"months": (MONTHS, CALENDAR), "string": (pa.large_string(), pa.string_view())}
    of |= {"array": (pa.large_list(pa.int8()),), "binary": (pa.binary(3),), "null": (pa.null(),)}
    assert all(kind(each) == name for name, types in of.items() for each in types)
    assert cast_array(pa.nulls(2), pa.int8()).to_pylist() == [None, None]
    assert cast_array(pa.array(["a", "a"]).dictionary_encode(), pa.string()).to_pylist() == ["a", "a"]
    assert limits(pa.int16()) == "-32768 to 32767"


def test_rows_of_a_query_have_months_already() -> None:
    months = pa.array([14, None], MONTHS)
    assert cast_array(months, MONTHS, own=True).equals(months)
    # nested ones may differ in whether they can be NULL
    inner = pa.array([{"m": 14, "n": 1}], pa.struct([("m", MONTHS), ("n", pa.int32())]))
    target = pa.struct([pa.field("m", MONTHS, False), pa.field("n", pa.int64())])
    assert cast_array(inner, target, own=True).to_pylist() == inner.to_pylist()
    for own in (False, True):
        with pytest.raises(Refused, match="is no interval of months; cast it"):
            cast_array(pa.array([14], pa.duration("us")), MONTHS, own=own)


def test_a_variant_beside_months_from_spark() -> None:
    """A frame's rows come with VARIANT as it is here, and months as integers."""
    both = pa.struct([("v", VARIANT), ("m", MONTHS)])
    variant = {"variant value": b"\x00", "variant metadata": b"\x01\x00\x00"}
    given = pa.array([{"v": variant, "m": 14}, None], pa.struct([("v", VARIANT), ("m", pa.int32())]))
    cast = cast_array(given, both)
    assert cast.type == both and cast.null_count == 1
    assert cast.field(0)[0].as_py() == variant and cast.field(1).cast(pa.int64())[0].as_py() == 14
