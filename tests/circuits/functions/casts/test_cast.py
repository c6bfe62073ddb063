"""CAST among numbers and booleans: Spark's values, Spark's errors."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.functions.evaluate import evaluate
from tests.generators.columns.interesting import interesting_rows
from tests.oracles.against_spark import AgainstSpark

NUMBERS = ["b", "i8", "i16", "i32", "i64", "f", "d", "m", "w"]
TARGETS = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(10,2)",
    "DECIMAL(38,10)",
    "DECIMAL(3,0)",
]
TARGETS += ["STRING", "DECIMAL(38,38)", "DECIMAL(20,15)"]


@pytest.mark.spark
def test_numbers(spark: Any) -> None:
    against = AgainstSpark(spark, interesting_rows(*NUMBERS, rows=120))
    against.check([f"try_cast({x} AS {target})" for x in NUMBERS for target in TARGETS])
    against.check(
        [
            "CAST(i8 AS INT)",
            "CAST(b AS DOUBLE)",
            "CAST(m AS DOUBLE)",
            "CAST(m AS INT)",
            "CAST(w AS STRING)",
            "CAST(NULL AS INT)",
        ]
    )


@pytest.mark.spark
def test_numbers_that_do_not_fit(spark: Any) -> None:
    against = AgainstSpark(spark, interesting_rows("i8", "i32", "i64", "f", "d", "m", "w"))
    narrow = [
        ("i32", "TINYINT"),
        ("i64", "INT"),
        ("d", "BIGINT"),
        ("d", "SMALLINT"),
        ("f", "INT"),
        ("w", "BIGINT"),
        ("m", "TINYINT"),
    ]
    decimals = [
        ("i64", "DECIMAL(5,1)"),
        ("d", "DECIMAL(10,2)"),
        ("w", "DECIMAL(10,2)"),
        ("m", "DECIMAL(3,2)"),
        ("b", "DECIMAL(1,1)"),
    ]
    against.check_fails([f"CAST({x} AS {target})" for x, target in narrow + decimals[:-1]])
    against.check_fails(["CAST(i8 = 1 AS DECIMAL(1,1))"])


@pytest.mark.spark
def test_printed_and_rounded_doubles(spark: Any) -> None:
    """Doubles of few digits, halves, and powers of ten around the borders of Java's formats.

    Only numbers that Java prints alike before and since version 19, which has all of them shortest.
    """
    doubles = [k / 10**p for k in (1, 5, 25, 105, 1005, 2675, 123456789, 99999995) for p in range(12)]
    doubles += [s * 10.0**e for e in range(-20, 22) for s in (1, -1.5, 1.25)] + [
        1e300,
        1e-300,
        5e-324,
        2.5e-310,
    ]
    floats = [double if abs(double) < 1e7 else 1.4e-45 for double in doubles]
    rows = pa.record_batch({"d": pa.array(doubles), "f": pa.array(floats, pa.float64()).cast(pa.float32())})
    AgainstSpark(spark, rows).check(
        ["CAST(d AS STRING)", "CAST(f AS STRING)"]
        + [
            f"try_cast({x} AS DECIMAL({p},{s}))"
            for x in "df"
            for p, s in ((10, 2), (38, 18), (38, 0), (20, 10), (18, 6))
        ]
    )


def _cast(column: pa.Array, data_type: pa.DataType, mode: str) -> list[Any]:
    call = Call(
        "cast", (Column(0, column.type),), data_type, options=(("evalMode", mode), ("timeZoneId", "UTC"))
    )
    values: list[Any] = evaluate(call, pa.record_batch({"x": column})).to_pylist()
    return values


def test_legacy_wraps_and_saturates() -> None:
    assert _cast(pa.array([300, -129, None]), pa.int8(), "LEGACY") == [44, 127, None]
    doubles = pa.array([1e20, -1e20, float("nan"), 3e9, 1.9])
    assert _cast(doubles, pa.int64(), "LEGACY") == [2**63 - 1, -(2**63), 0, 3000000000, 1]
    assert _cast(doubles, pa.int32(), "LEGACY") == [2**31 - 1, -(2**31), 0, 2**31 - 1, 1]
    assert _cast(pa.array([Decimal("99.9"), None]), pa.decimal128(2, 1), "LEGACY") == [None, None]


def test_a_decimal_is_the_nearest_double() -> None:
    digits = ["0.1", "123456789012345678.9", "-0.3", "99999999999999999999.99", "0.0000000001"]
    column = pa.array([Decimal(d) for d in digits], pa.decimal128(38, 10))
    assert _cast(column, pa.float64(), "ANSI") == [float(d) for d in digits]


_DECIMALS = st.sampled_from([(10, 2), (38, 10), (38, 38), (20, 0), (38, 18), (18, 6)])
_DIGITS = st.text("0019", min_size=1, max_size=60)


@given(
    st.sampled_from(["", "-", "+"]),
    _DIGITS,
    st.none() | st.text("0459", max_size=60),
    st.none() | st.integers(-60, 60),
    _DECIMALS,
)
def test_text_to_decimal(
    sign: str, whole: str, fraction: str | None, exponent: int | None, kind: tuple[int, int]
) -> None:
    text = (
        sign
        + whole
        + ("" if fraction is None else f".{fraction}")
        + ("" if exponent is None else f"E{exponent}")
    )
    read = _cast(pa.array([text, "~"]), pa.decimal128(*kind), "TRY")
    assert read == [_rounded(text, *kind), None]


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-30, 30), _DECIMALS)
def test_double_to_decimal(double: float, exponent: int, kind: tuple[int, int]) -> None:
    """By the digits that are printed, of numbers of all sizes."""
    values = [double, math.fmod(double, 1.0) * 10.0**exponent, round(math.fmod(double, 1e4), 3)]
    read = _cast(pa.array(values), pa.decimal128(*kind), "TRY")
    assert read == [_rounded(repr(value), *kind) for value in values]


def _rounded(text: str, precision: int, scale: int) -> Decimal | None:
    wide = Context(prec=1000)
    value = Decimal(text).quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP, context=wide)
    return value if abs(value) < Decimal(10) ** (precision - scale) else None
