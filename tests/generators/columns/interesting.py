"""Values where SQL functions go wrong: extremes, halves, NaN, signed zeros, NULL, non-ASCII text."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa

I8 = [0, 1, -1, 2, 7, -7, 100, 127, -128]
I16 = [0, 1, -1, 3, -3, 255, 32767, -32768, 128, -129]
I32 = [0, 1, -1, 2, -5, 10, 1000, 2147483647, -2147483648, 46341, 32768]
I64 = [0, 1, -1, 3, -3, 10**12, 3037000500, 9223372036854775807, -9223372036854775808, 2**31, -(2**31) - 1]
DOUBLES = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 1e16, 1e-5, 0.001, 1e7, 9999999.0, 12345678.9, 123.456, 1e20,
    1e-300, 1.7976931348623157e308, 9.007199254740993e15, 2147483647.5, -2147483648.5, 9.2e18, 3.14159,
    float("nan"), float("inf"), float("-inf"), 1 / 3, 0.1, -123456.789,
]  # fmt: skip
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 3.4028234e38, 1e-10, 16777216.0, 2.5, float("nan"), float("inf"), -1e10]
SMALL_DECIMALS = [
    Decimal(x) for x in ("0.00", "0.01", "-0.01", "1.50", "-2.25", "99999999.99", "-99999999.99", "3.00")
]
LARGE_DECIMALS = [
    Decimal(x)
    for x in (
        "0",
        "1",
        "-1",
        "0.0000000001",
        "12345678901234567890.1234567890",
        "-9999999999999999999.9999999999",
        "7",
    )
]
STRINGS = ["", "a", "b", "ab", "A", "ä", "日本", "z", " a ", "\U0001f600", "a\x00"]
BOOLEANS = [True, False]
# around 1900, 1970, a leap day, daylight saving's borders, a day's end
DATES = [0, -1, 1, 19782, -25567, 11016, 19000, 2932896, -719162]
MICROS = [
    0, -1, 1, 1709200800123456, 1709251199999999, -2208988800000000, 1679191200000000, 1667091600000000,
    1711846800000000, 253402300799999999, -62135596800000000, 1000000, 1234567000,
]  # fmt: skip

_COLUMNS: dict[str, tuple[list[Any], pa.DataType]] = {
    "b": (BOOLEANS, pa.bool_()),
    "i8": (I8, pa.int8()),
    "i16": (I16, pa.int16()),
    "i32": (I32, pa.int32()),
    "i64": (I64, pa.int64()),
    "f": (FLOATS, pa.float32()),
    "d": (DOUBLES, pa.float64()),
    "m": (SMALL_DECIMALS, pa.decimal128(10, 2)),
    "w": (LARGE_DECIMALS, pa.decimal128(38, 10)),
    "s": (STRINGS, pa.string()),
    "dt": (DATES, pa.date32()),
    "ts": (MICROS, pa.timestamp("us", tz="UTC")),
    "tn": (MICROS, pa.timestamp("us")),
}


def pairs(values: list[Any], seed: int, rows: int) -> tuple[list[Any], list[Any]]:
    """Two columns: NULL with NULL, and as many of all pairs of values as there is room for."""
    chosen = list(itertools.product([*values, None], repeat=2))
    random.Random(seed).shuffle(chosen)
    chosen = [*itertools.islice(itertools.cycle(chosen), rows - 1), (None, None)]
    return [a for a, _ in chosen], [b for _, b in chosen]


def interesting_rows(*names: str, rows: int = 250) -> pa.RecordBatch:
    """Columns x and x2 for each name of `_COLUMNS` (all of them if none are given)."""
    arrays, columns = [], []
    for seed, name in enumerate(names or _COLUMNS):
        values, data_type = _COLUMNS[name]
        for column, suffix in zip(pairs(values, seed, rows), ("", "2"), strict=True):
            arrays.append(pa.array(column, data_type))
            columns.append(name + suffix)
    return pa.RecordBatch.from_arrays(arrays, names=columns)
