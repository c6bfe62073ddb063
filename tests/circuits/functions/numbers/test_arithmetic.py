"""Arithmetic is Spark's on pairs of interesting values: results, NULLs of TRY, and ANSI errors."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.functions.evaluate import evaluate
from tests.generators.columns.interesting import interesting_rows
from tests.oracles.against_spark import AgainstSpark

NUMBERS = ["i8", "i16", "i32", "i64", "f", "d", "m", "w"]
TRY = ["try_add", "try_subtract", "try_multiply"]
MIXED = [
    ("i32", "m"),
    ("i64", "w"),
    ("m", "w"),
    ("w", "m"),
    ("i8", "i64"),
    ("f", "i32"),
    ("d", "m"),
    ("m", "i8"),
]


@pytest.mark.spark
def test_try(spark: Any) -> None:
    against = AgainstSpark(spark, interesting_rows(*NUMBERS, rows=300))
    against.check([f"{function}({x}, {x}2)" for x in NUMBERS for function in TRY])
    against.check([f"{function}({x}, {y})" for x, y in MIXED for function in TRY])


@pytest.mark.spark
def test_values_in_range(spark: Any) -> None:
    """Where no row fails under ANSI."""
    against = AgainstSpark(spark, interesting_rows("i8", "i32", "f", "d", "m", "w", "i64"))
    against.check(
        [
            "d + d2", "d - d2", "d * d2", "f * f2", "m + m2", "m * m2", "-d", "-m", "+i32", "abs(d)",
            "abs(m)", "abs(f)", "-f", "i32 & i322", "i8 | i82", "i64 ^ i642", "~i32", "~i8",
            "shiftleft(i32, i8)", "shiftright(i64, i8)", "shiftrightunsigned(i32, i8)",
            "shiftrightunsigned(i64, i8)", "i32 << 3", "bit_count(i32)", "bit_count(i8)", "bit_get(i32, 3)",
            "bit_get(i8, i64 & 7)", "w * 0.1", "w - m", "m + i8", "-(w)", "positive(w)",
        ]
    )  # fmt: skip


@pytest.mark.spark
def test_failures(spark: Any) -> None:
    AgainstSpark(spark, interesting_rows("i8", "i16", "i32", "i64", "d", "m", "w")).check_fails(
        [
            "i8 + i82", "i16 - i162", "i32 * i322", "i64 + i642", "i64 - i642", "i64 * i642", "i32 + 1",
            "-i32", "-i8", "abs(i64)", "abs(i16)", "w * w2",
        ]
    )  # fmt: skip


@pytest.mark.spark
def test_intervals(spark: Any) -> None:
    rows = interesting_rows("b")
    either = "if(b, INTERVAL '1' DAY, INTERVAL '-90' MINUTE)"
    against = AgainstSpark(spark, rows)
    against.check(
        [f"{either} - INTERVAL '2' HOUR", f"-{either}", f"abs({either})", f"{either} < INTERVAL '0' DAY"]
    )
    against.check([f"{either} * 3", f"{either} * -0.333BD", f"{either} / 7", f"{either} / -1.7BD"])
    against.check([f"{either} * CAST(if(b2, 2, 5) AS TINYINT)"])
    against.check_fails([f"{either} / 0", f"{either} * 9223372036854775807"])
    against.check_fails([f"{either} + INTERVAL '106751991' DAY"])


def _call(function: str, data_type: pa.DataType, *columns: pa.Array, **options: object) -> pa.Array:
    rows = pa.RecordBatch.from_arrays(list(columns), names=[f"c{n}" for n in range(len(columns))])
    arguments = tuple(Column(n, column.type) for n, column in enumerate(columns))
    return evaluate(Call(function, arguments, data_type, options=tuple(sorted(options.items()))), rows)


def test_wrapping_is_legacys() -> None:
    x = pa.array([2**63 - 1, None], pa.int64())
    assert _call("add", pa.int64(), x, x, evalMode="LEGACY").to_pylist() == [-2, None]
    assert _call("add", pa.int64(), x, x, evalMode="TRY").to_pylist() == [None, None]


def test_products_near_the_border() -> None:
    """Where doubles can't tell whether a product fits."""
    x = pa.array([3037000499, 3037000500, -3037000500, 2**62, -(2**62), 2**31], pa.int64())
    y = pa.array([3037000499, 3037000500, 3037000500, 2, 2, 2**32], pa.int64())
    exact = [a * b for a, b in zip(x.to_pylist(), y.to_pylist(), strict=True)]
    assert _call("multiply", pa.int64(), x, y, evalMode="TRY").to_pylist() == [
        value if -(2**63) <= value < 2**63 else None for value in exact
    ]


def test_wide_decimals() -> None:
    """Beyond 64 bits, rounded once, half away from zero."""
    data_type = pa.decimal128(38, 10)
    x = pa.array([Decimal("1234567890123456789012345678.5"), Decimal("-0.0000000005"), None], data_type)
    y = pa.array([Decimal("0.1"), Decimal("0.1"), Decimal("1")], data_type)
    assert _call("multiply", data_type, x, y).to_pylist() == [
        Decimal("123456789012345678901234567.85").quantize(Decimal("1e-10"), context=_wide()),
        Decimal("-0.0000000001"),
        None,
    ]


def _wide() -> Context:
    return Context(prec=60)
