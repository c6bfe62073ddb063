"""Division is Spark's on pairs of interesting values: results, NULLs of TRY, and ANSI errors."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.functions.evaluate import evaluate
from tests.circuits.functions.numbers.test_arithmetic import MIXED, NUMBERS
from tests.generators.columns.interesting import interesting_rows
from tests.oracles.against_spark import AgainstSpark

TRY = ["try_divide", "try_mod"]


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
            "i64 DIV nullif(nullif(i642, -1), 0)", "try_divide(i64, 3) + 1", "(i32 % 7) + (i8 % 5)",
            "pmod(i32, 7)", "pmod(i32, -7)", "pmod(i8, nullif(i82, 0))", "pmod(d, nullif(d2, 0))",
            "pmod(m, nullif(m2, 0))", "pmod(w, 3.5)", "pmod(i64, nullif(i642, 0))", "d / nullif(d2, 0)",
            "f / nullif(f2, 0)", "d % nullif(d2, 0)", "f % nullif(f2, 0)", "m / 3", "m DIV 7",
            "w DIV nullif(i8, 0)", "m % nullif(m2, 0)", "w % nullif(m, 0)", "w / 7", "m / nullif(m2, 0)",
            "1 - m / 100", "i32 / nullif(i8, 0)",
        ]
    )  # fmt: skip


@pytest.mark.spark
def test_failures(spark: Any) -> None:
    AgainstSpark(spark, interesting_rows("i8", "i16", "i32", "i64", "d", "m", "w")).check_fails(
        [
            "i64 DIV i642", "i64 DIV -1", "d / 0", "d / d2", "d % d2", "m / m2", "m % m2", "i32 % i322",
            "pmod(i32, i322)", "pmod(d, 0)", "w / 0.0000000001BD * w2", "i32 / i322", "m DIV m2",
        ]
    )  # fmt: skip


def test_the_first_failing_row_is_shown() -> None:
    x, y = pa.array([1, None, 5, 6], pa.int64()), pa.array([1, 0, 0, 0], pa.int64())
    with pytest.raises(EvaluationError, match=r"where c0=5, c1=0: \[DIVIDE_BY_ZERO\]"):
        evaluate(
            Call("integral_divide", (Column(0, x.type), Column(1, y.type)), pa.int64()),
            pa.RecordBatch.from_arrays([x, y], names=["c0", "c1"]),
        )
