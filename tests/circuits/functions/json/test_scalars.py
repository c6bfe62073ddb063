"""Scalars of JSON, as Spark's parser takes them: of the type, or not at all."""

from __future__ import annotations

import base64
import datetime as dt
import struct
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.functions.json.reader import Reader
from dbsp.circuits.functions.json.scalars import Times, Unconverted, scalar

INT, DOUBLE, FLOAT, TEXT = pa.int64(), pa.float64(), pa.float32(), pa.string()


def read(data_type: pa.DataType, document: str, zone: str = "UTC") -> Any:
    reader = Reader(document, control_characters=False, non_numbers=True)
    reader.next()
    return scalar(data_type, Times(zone))(reader)


def value(data_type: pa.DataType, document: str, zone: str = "UTC") -> Any:
    """In Python's own type."""
    return pa.scalar(read(data_type, document, zone), data_type).as_py()


@given(st.integers(-(2**70), 2**70), st.sampled_from([pa.int8(), pa.int32(), INT]))
@example(number=255, data_type=pa.int8())
@example(number=256, data_type=pa.int8())
def test_integers_of_the_width(number: int, data_type: pa.DataType) -> None:
    """Jackson takes bytes without a sign, too: 255 is -1."""
    bound = 1 << (data_type.bit_width - 1)
    most = 2 * bound if data_type == pa.int8() else bound
    if -bound <= number < most:
        assert read(data_type, str(number)) == (number + bound) % (2 * bound) - bound
    else:
        with pytest.raises(Unconverted):
            read(data_type, str(number))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles(number: float) -> None:
    assert repr(float(read(DOUBLE, repr(number)))) == repr(number)


@given(st.integers(-(10**12), 10**12), st.integers(0, 40))
def test_floats_are_the_nearest_to_the_digits(digits: int, places: int) -> None:
    found = read(FLOAT, f"{digits}e-{places}")
    exact = Decimal(digits).scaleb(-places)
    around = [found, *(struct.unpack("f", struct.pack("I", bits))[0] for bits in _neighbours(found))]
    assert min(around, key=lambda each: abs(Decimal(each) - exact)) == found


def _neighbours(number: float) -> list[int]:
    (bits,) = struct.unpack("I", struct.pack("f", number))
    return [each for each in (bits - 1, bits + 1) if 0 <= each < 2**32 and each & 0x7FFFFFFF < 0x7F800000]


@pytest.mark.parametrize(
    ("text", "shown"), [("NaN", "nan"), ('"NaN"', "nan"), ("-INF", "-inf"), ('"+Infinity"', "inf")]
)
def test_what_is_no_number(text: str, shown: str) -> None:
    assert repr(float(read(DOUBLE, text))) == shown


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_decimals_are_rounded_half_up(digits: int, places: int) -> None:
    exact = Decimal(digits).scaleb(-places)
    for document in (str(exact), f'"{exact}"'):
        found = value(pa.decimal128(18, 2), document)
        assert found == exact.quantize(Decimal("0.01"), ROUND_HALF_UP)


@given(st.binary(max_size=7))
def test_binary_is_base64(data: bytes) -> None:
    assert read(pa.binary(), f'"{base64.b64encode(data).decode()}"') == data


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"a\\u00e9"', "aé"),
        ("12", "12"),
        ("true", "true"),
        ('{"a": [1, null]}', '{"a":[1,null]}'),
        ("[ ]", "[]"),
    ],
)
def test_text_of_anything(text: str, found: str) -> None:
    assert read(TEXT, text) == found


@pytest.mark.parametrize(
    ("text", "zone", "found"),
    [
        ('"2024-02-29T10:00:00Z"', "UTC", dt.datetime(2024, 2, 29, 10, tzinfo=dt.UTC)),
        ('"2024-02-29 10:00:00"', "Europe/Berlin", dt.datetime(2024, 2, 29, 9, tzinfo=dt.UTC)),
        ('"2024-02-29T10:00:00.123456+01:00"', "UTC", dt.datetime(2024, 2, 29, 9, 0, 0, 123456, dt.UTC)),
        ("86400", "Europe/Berlin", dt.datetime(1970, 1, 2, tzinfo=dt.UTC)),
    ],
)
def test_times(text: str, zone: str, found: dt.datetime) -> None:
    assert value(pa.timestamp("us", tz="UTC"), text, zone) == found


def test_dates() -> None:
    assert value(pa.date32(), '"2024-02-29"') == dt.date(2024, 2, 29)


@pytest.mark.parametrize(
    ("data_type", "text"),
    [
        (INT, '"1"'), (INT, "1.0"), (INT, "true"), (pa.bool_(), '"true"'), (pa.bool_(), "1"),
        (DOUBLE, '"1.5"'),
        (pa.decimal128(3, 1), "100"), (pa.decimal128(3, 1), '"x"'), (pa.date32(), '"yesterday"'),
        (pa.timestamp("us", tz="UTC"), '"soon"'), (pa.binary(), '"a"'), (pa.binary(), "1"),
        (INT, "[1]"), (INT, "{}"),
    ],
)  # fmt: skip
def test_what_is_of_another_type(data_type: pa.DataType, text: str) -> None:
    with pytest.raises(Unconverted):
        read(data_type, text)


def test_times_by_a_pattern() -> None:
    reader = Reader('"29.02.2024"', control_characters=False, non_numbers=True)
    reader.next()
    days = scalar(pa.date32(), Times("UTC", date_pattern="dd.MM.yyyy"))(reader)
    assert pa.scalar(days, pa.date32()).as_py() == dt.date(2024, 2, 29)
    with pytest.raises(Unconverted):
        scalar(pa.date32(), Times("UTC", date_pattern="yyyy"))(reader)
