"""Rounding is Spark's bit for bit; the elementary functions within two units in the last place."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from tests.circuits.functions.catalogue.numbers import ELEMENTARY
from tests.oracles.against_spark import AgainstSpark

EXACT = [
    "sqrt(x)",
    "floor(dc)",
    "floor(d38)",
    "ceil(d38)",
    "floor(dc,1)",
    "ceil(dc)",
    "ceil(dc,-1)",
    "ceil(i,-1)",
    "floor(dc,-20)",
    "round(x)",
    "round(x,2)",
    "round(x,1)",
    "round(x,-1)",
    "round(x,20)",
    "round(x,30)",
    "round(x,-30)",
    "round(i,-1)",
    "round(l,-2)",
    "round(l,-25)",
    "round(dc,2)",
    "round(dc)",
    "round(dc,-2)",
    "round(dc,-16)",
    "round(dc,-17)",
    "round(dc,-30)",
    "round(d38,2)",
    "round(d38,-30)",
    "round(f,1)",
    "round(f,2)",
    "round(f)",
    "bround(x,2)",
    "bround(x)",
    "bround(dc,2)",
    "bround(dc)",
    "bround(i,-1)",
    "bround(f,1)",
    "sign(x)",
    "signum(i)",
    "degrees(x)",
    "radians(x)",
    "factorial(i)",
    "rint(x)",
    "width_bucket(x,0.0,10.0,5)",
    "width_bucket(x,10.0,-10.0,5)",
    "width_bucket(x,y,10.0,l)",
    "floor(small)",
    "ceil(small)",
    "floor(l)",
]

APPROXIMATE = [text for texts in ELEMENTARY.values() for text in texts]

DOUBLES = [
    0.0, -0.0, 1.0, -1.0, 2.5, 3.5, -2.5, 0.5, -0.5, 1e300, -1e300, 5e-324, float("nan"), float("inf"),
    -float("inf"), 2.675, 1.005, 1.255, 0.285, -2.675, 9.22e18, 1e15 + 0.5, 123456789012345.675,
    4503599627370497.5, 0.1, 25.0, 35.0, -25.0, 1e22, 1e-7, None, 20.0, 1.7976931348623157e308, 99.995, 0.045,
]  # fmt: skip
BIGINTS = [0, 1, -1, 5, -5, 15, 25, -15, 10**18, 5 * 10**17, None, 4999, 5000, 20, 21]
INTS = [0, 1, -1, 5, 15, 20, 21, -15, 44, 45, 55, 2**30, 1999999994, -1999999994, None]
DECIMALS = [
    "0.0000", "1.2345", "-1.2345", "2.5", "-2.5", "3.5", "9999999999999999.9999", "-9999999999999999.9999",
    None, "0.0001", "123.45", "55", "45",
]  # fmt: skip


def number_rows(rows: int = 400) -> pa.RecordBatch:
    choose = random.Random(11)
    made = [round(choose.uniform(-1000, 1000), choose.randint(0, 4)) for _ in range(rows - len(DOUBLES))]
    doubles = [*DOUBLES, *made]
    others = choose.sample(doubles, rows)
    decimals = [each and Decimal(each) for each in choose.choices(DECIMALS, k=rows)]
    columns = {
        "x": pa.array(doubles, pa.float64()),
        "y": pa.array(others, pa.float64()),
        "f": pa.array(
            [each if each is None or not abs(each) > 1e38 else 0.125 for each in doubles], pa.float32()
        ),
        "small": pa.array([each if each is not None and abs(each) < 1e18 else 0.5 for each in doubles]),
        "l": pa.array(choose.choices(BIGINTS, k=rows), pa.int64()),
        "i": pa.array(choose.choices(INTS, k=rows), pa.int32()),
        "dc": pa.array(decimals, pa.decimal128(20, 4)),
        "d38": pa.array([each and each * 10**15 for each in decimals], pa.decimal128(38, 4)),
    }
    return pa.RecordBatch.from_pydict(columns)


@pytest.mark.spark
def test_exact(spark: Any) -> None:
    AgainstSpark(spark, number_rows()).check(EXACT)


@pytest.mark.spark
def test_approximate(spark: Any) -> None:
    against = AgainstSpark(spark, number_rows())
    theirs = against.spark_values(APPROXIMATE)
    for at, ours in enumerate(against.evaluate(APPROXIMATE)):
        text = APPROXIMATE[at]
        assert isinstance(ours, pa.Array), (text, ours)
        for mine, spark_value in zip(ours.to_pylist(), theirs.column(at).to_pylist(), strict=True):
            assert close(mine, spark_value), (text, mine, spark_value)


def close(mine: float | None, theirs: float | None) -> bool:
    if mine is None or theirs is None or not (math.isfinite(mine) and math.isfinite(theirs)):
        return str(mine) == str(theirs)
    return abs(mine - theirs) <= 2 * max(math.ulp(mine), math.ulp(theirs))


@pytest.mark.spark
def test_failures(spark: Any) -> None:
    AgainstSpark(spark, number_rows()).check_fails(
        ["floor(x)", "ceil(x)", "round(2147483640 + i % 8, -1)", "round(9223372036854775800 + l % 8, -1)"]
    )
