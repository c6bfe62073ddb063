"""Intervals of years to months and of days to seconds are Spark's: arithmetic, casts, order, hashes."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from tests.oracles.against_spark import AgainstSpark

_EDGES = [0, 1, -1, 11, 12, -12, 13, -25, 2**31 - 1, -(2**31), 1200, -119]
_MICROS = [0, 1, -1, 999_999, -1_000_000, 86_400_000_000, -93_784_500_000, 2**63 - 1, -(2**63), 3_600 * 10**6]
_NUMBERS = [0, 1, -1, 2, 5, -7, 1000, 2147483647, -2147483648]
_DECIMALS = [
    Decimal(x) for x in ("0", "0.5", "-0.5", "1.005", "-2.5", "7.123456", "99999.999999", "-0.000001")
]
_DOUBLES = [0.0, 0.5, -0.5, 1.5, 2.5, -1.1, 1e-9, 0.49999999999999994, 7.1, -0.0]
_DAY_TIME = [
    "DAY",
    "DAY TO HOUR",
    "DAY TO MINUTE",
    "DAY TO SECOND",
    "HOUR",
    "HOUR TO MINUTE",
    "HOUR TO SECOND",
]
_DAY_TIME += ["MINUTE", "MINUTE TO SECOND", "SECOND"]
_YEAR_MONTH = ["YEAR", "YEAR TO MONTH", "MONTH"]
_TEXTS = [
    "1-2", "-1-2", "+1-2", "|1-2", " 1-2 ", "1-12", "00001-02", "178956970-7", "178956970-8", "-178956970-8",
    "interval '1-2' year to month", "INTERVAL -'1-2' YEAR  TO MONTH", "interval -'-1-2' year to month",
    "--1-2",
    "1", "-5", "+5", "5 month", "interval '5' month", "interval '5' year", "2147483647", "-2147483648", "",
    "2147483648", "99999999999999999999", "1 2:3:4", "1 02:03:04.5", "-1 23:59:59.999999999", "1 24:00:00",
    "1 2:60:3", "1  2:3:4", "1 2:3", "1 2", "12:34", "12:34:56", "100:03.25", "61.5", ".5", "5.", "1 2:3:4.",
    "106751991 04:00:54.775807", "106751991 04:00:54.775808", "-106751991 04:00:54.775808", "106751992", "x",
    "interval '1 2:3:4.5' day to second", "interval '61.5' second", "interval '1' day", "2562047789", "\t7\n",
    "1 123:4:5", "interval '12:34' hour to minute", "interval'1' day", "9223372036855", "interval 1 day",
]  # fmt: skip


def _rows(rows: int = 200) -> pa.RecordBatch:
    """y, y2: months; t, t2: microseconds; i, l, c, x: numbers; s: text."""
    choose = random.Random(11)

    def drawn(values: list[Any], seen: bool = True) -> list[Any]:
        first = list(values) if seen else []
        return [*first, *(choose.choice([*values, None]) for _ in range(rows - len(first) - 1)), None]

    small = [choose.randrange(-500, 500) for _ in range(20)]
    return pa.RecordBatch.from_pydict(
        {
            "y": pa.array(drawn(_EDGES), pa.int64()).view(MONTHS),
            "y2": pa.array(drawn(small, seen=False), pa.int64()).view(MONTHS),
            "t": pa.array(drawn(_MICROS), pa.int64()).view(pa.duration("us")),
            "t2": pa.array(drawn([n * 1_234_567 for n in small], seen=False), pa.duration("us")),
            "i": pa.array(drawn(_NUMBERS), pa.int32()),
            "l": pa.array(drawn([n * 3 for n in _NUMBERS]), pa.int64()),
            "c": pa.array(drawn(_DECIMALS), pa.decimal128(12, 6)),
            "x": pa.array(drawn(_DOUBLES), pa.float64()),
            "s": pa.array(drawn(_TEXTS), pa.string()),
        }
    )


EXPRESSIONS = [
    "y", "y2 + y2", "y2 - INTERVAL '1-1' YEAR TO MONTH", "-y2", "+y", "abs(y2)", "sign(y)", "try_add(y, y2)",
    "try_subtract(y, y2)", "try_multiply(y, i)", "try_divide(y, i)", "try_multiply(t, x)", "y2 * 3",
    "y2 * 2S", "y2 * c", "y2 / 7", "y2 / 2.5BD", "y2 * x",
    "y2 / (x * x + 0.3D)",
    "y2 * float(x)", "t2 * x", "t2 / (x * x + 0.3D)", "t2 * float(x)", "y2 = y", "y2 < y", "y2 <=> y",
    "y >= y2",
    "y <> y2", "y IN (INTERVAL 1 MONTH, INTERVAL 1 YEAR, y2)", "y BETWEEN y2 AND INTERVAL 3 YEAR",
    "greatest(y, y2)", "least(y, y2, INTERVAL 1 MONTH)", "coalesce(y, y2)", "nullif(y, INTERVAL 1 YEAR)",
    "if(i > 0, y, y2)", "CASE WHEN i > 0 THEN y WHEN i < 0 THEN y2 END", "ifnull(y, INTERVAL 0 MONTH)",
    "nvl2(y, y2, y)", "y IS NULL", "hash(y)", "xxhash64(y, t)", "hash(t)", "extract(YEAR FROM y)",
    "extract(MONTH FROM y)", "year(DATE '2020-01-31' + y2)", "date '2024-02-29' + y2",
    "date '2024-02-29' - y2",
    "timestamp '2024-02-29 10:00:00' + y2", "timestamp_ntz '2024-02-29 10:00:00' - y2", "array(y, y2)",
    "array(y2, y)[0]", "struct(y AS a, y2 AS b)", "struct(y AS a, y2 AS b).b", "map('k', y)",
    "map(1, y2)[1]",
    "array_max(array(y, y2))", "array_sort(array(y, y2, NULL))", "array_distinct(array(y, y, y2))",
    "array_contains(array(y2), y)", "array_position(array(y, y2), y2)", "transform(array(y2), v -> v * 2)",
    "aggregate(array(y2, y2), INTERVAL '0-0' YEAR TO MONTH, (a, v) -> a + v)",
    "sort_array(array(y, y2), false)",
    "make_ym_interval(i % 100000, i % 13)", "typeof(y)", "elt(1, string(y))", "struct(y) < struct(y2)",
    "to_json(struct(y AS y, t AS t))", "arrays_overlap(array(y), array(y2))", "equal_null(y, y2)",
]  # fmt: skip


@pytest.mark.spark
def test_values(spark: Any) -> None:
    rows = _rows()
    valid = [text for text in EXPRESSIONS if "to_json" not in text]
    AgainstSpark(spark, rows).check(valid)


@pytest.mark.spark
def test_casts(spark: Any) -> None:
    texts = []
    for kind in _YEAR_MONTH:
        interval = f"CAST(y AS INTERVAL {kind})"
        texts += [interval, f"CAST({interval} AS STRING)", f"CAST({interval} AS BIGINT)"]
        texts += [f"TRY_CAST({interval} AS TINYINT)", f"TRY_CAST({interval} AS DECIMAL(6, 2))"]
        texts += [
            f"TRY_CAST({source} AS INTERVAL {kind})" for source in ("i", "l", "c", "s", "smallint(c / 10)")
        ]
    for kind in _DAY_TIME:
        interval = f"CAST(t AS INTERVAL {kind})"
        texts += [interval, f"CAST({interval} AS STRING)", f"CAST({interval} AS BIGINT)"]
        texts += [f"TRY_CAST({interval} AS SMALLINT)", f"TRY_CAST({interval} AS DECIMAL(10, 4))"]
        texts += [f"TRY_CAST({source} AS INTERVAL {kind})" for source in ("i", "l", "c", "s")]
    AgainstSpark(spark, _rows()).check(texts)


@pytest.mark.spark
def test_failures(spark: Any) -> None:
    AgainstSpark(spark, _rows(60)).check_fails(
        [
            "y + y", "y - y2", "-y", "-t", "abs(y)", "abs(t)", "y * 2", "y2 / 0", "y2 / 0D", "y2 * 1e300D",
            "y2 / 1e-300D",
            "y2 * double('NaN')", "t2 * double('Infinity')", "CAST(l AS INTERVAL MONTH)",
            "CAST(i AS INTERVAL YEAR)",
            "CAST(9223372036854775807 + 0 * i AS INTERVAL DAY)", "CAST(y AS TINYINT)",
            "CAST(y AS DECIMAL(3, 0))",
            "CAST('x' || s AS INTERVAL MONTH)", "CAST('x' || s AS INTERVAL DAY)",
            "CAST('1-1' || i AS INTERVAL YEAR TO MONTH)",
            "CAST('1 30:0' || length(s) % 2 AS INTERVAL DAY TO MINUTE)",
            "CAST('99999999999' || length(s) % 2 AS INTERVAL MONTH)",
        ]
    )  # fmt: skip


@pytest.mark.spark
def test_inside_of_a_nested_type(spark: Any) -> None:
    """Spark casts there for us."""
    AgainstSpark(spark, _rows(60)).check(
        ["CAST(array(y) AS ARRAY<INTERVAL YEAR>)", "CAST(named_struct('y', y, 't', t) AS STRING)"]
    )
