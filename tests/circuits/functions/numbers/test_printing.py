"""Numbers as digits: Python's shortest ones, in Java's spelling."""

from __future__ import annotations

import struct
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.functions.numbers.printing import java_text, shortest_digits

doubles = st.floats(allow_nan=False, allow_infinity=False)
floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


def java(value: float, digits: str) -> str:
    """d.ddd from 10^-3 to below 10^7, else d.dddE±n, of the digits of Python's spelling."""
    sign = "-" if digits.startswith("-") else ""
    if value == 0:
        return f"{sign}0.0"
    plain, exponent = Decimal(digits).as_tuple().digits, Decimal(digits).adjusted()
    significant = "".join(map(str, plain)).rstrip("0")
    if 1e-3 <= abs(value) < 1e7:
        text = f"{abs(Decimal(digits)):f}"
        return sign + (text if "." in text else f"{text}.0")
    return f"{sign}{significant[0]}.{significant[1:] or '0'}E{exponent}"


@given(st.lists(st.one_of(st.none(), doubles), max_size=6))
@example([1e7, 1e-3, 9999999.999999998, 0.001, 1e22, -0.0, 123456789.0, 5e-322])
def test_doubles(values: list[float | None]) -> None:
    values = [v for v in values if v is None or v == 0 or abs(v) > 1e-320]  # the least have a digit more
    found = java_text(pa.array(values, pa.float64())).to_pylist()
    assert found == [None if v is None else java(v, repr(v)) for v in values]


@given(st.lists(floats, max_size=6))
def test_floats(values: list[float]) -> None:
    values = [v for v in values if v == 0 or abs(v) > 1e-42]
    array = pa.array(np.array(values, np.float32))
    found = java_text(array).to_pylist()
    assert found == [java(v, str(np.float32(v))) for v in values]
    assert [struct.pack("f", float(text)) for text in found] == [struct.pack("f", v) for v in values]


# of Java's documentation, and of its tests
@pytest.mark.parametrize(
    ("value", "text"),
    [(4.9e-324, "4.9E-324"), (9.9e-324, "9.9E-324"), (2e23, "2.0E23"), (1.0e23, "1.0E23"), (100.0, "100.0")],
)
def test_spelling(value: float, text: str) -> None:
    assert java_text(pa.array([value])).to_pylist() == [text]


def test_what_is_no_number() -> None:
    values = pa.array([float("nan"), float("inf"), float("-inf"), None, 1.5])
    assert java_text(values).to_pylist() == ["NaN", "Infinity", "-Infinity", None, "1.5"]


@given(st.lists(doubles, min_size=1, max_size=6))
@example([1e10, 1e17, 123.456, -0.0, 5e-324, 1.7976931348623157e308])
def test_digits_and_exponents(values: list[float]) -> None:
    digits, exponents = shortest_digits(pa.array(values, pa.float64()))
    for value, digit, exponent in zip(values, digits.tolist(), exponents.tolist(), strict=True):
        assert Decimal(digit).scaleb(exponent) == Decimal(repr(value))
