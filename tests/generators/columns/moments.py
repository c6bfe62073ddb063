"""Instants where calendars go wrong: changes of the clocks, the epoch, before standard time, far years."""

from __future__ import annotations

import random
from decimal import Decimal

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.forms.months import MONTHS

EDGES = [
    "2024-03-31T00:30:00", "2024-03-31T01:00:00", "2024-03-31T00:59:59.999999", "2024-10-27T00:30:00",
    "2024-10-27T01:30:00", "2024-03-10T06:59:59", "2024-03-10T07:00:00", "2024-11-03T05:30:00",
    "2024-11-03T06:30:00", "1970-01-01T00:00:00", "1969-12-31T23:59:59.999999", "1900-01-01T00:00:00",
    "1883-11-18T17:00:00", "1800-02-28T12:00:00", "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999",
    "1582-10-10T00:00:00", "2000-02-29T12:34:56.789", "2038-01-20T00:00:00", "2500-07-01T00:00:00",
    "2500-01-01T05:00:00", "1919-03-31T03:30:00", "1945-06-01T00:00:00", "2011-12-30T09:59:59",
]  # fmt: skip


def micros(moment: str) -> int:
    return int(np.datetime64(moment, "us").astype(np.int64))


def moment_rows(rows: int = 300) -> pa.RecordBatch:
    """ts, ts2, n: timestamps; d, d2: dates; i, l, x: numbers; mo, dy, hh, sec: fields; iv, ym: intervals."""
    choose = random.Random(7)
    far = [choose.randrange(micros("1700-01-01"), micros("2300-01-01")) for _ in range(rows // 2)]
    near = [choose.randrange(micros("2023-01-01"), micros("2026-01-01")) for _ in range(rows)]
    first = ([*map(micros, EDGES), *far, *near])[: rows - 1]
    second = choose.sample(first, len(first))
    day = micros("1970-01-02")

    def numbers(low: int, high: int) -> list[int]:
        return [choose.randrange(low, high) for _ in range(rows)]

    columns = {
        "ts": pa.array([*first, None], pa.int64()).cast(pa.timestamp("us", "UTC")),
        "ts2": pa.array([*second, 0], pa.int64()).cast(pa.timestamp("us", "UTC")),
        "n": pa.array([*second, None], pa.int64()).cast(pa.timestamp("us")),
        "d": pa.array([*(each // day for each in first), None], pa.int32()).cast(pa.date32()),
        "d2": pa.array([*(each // day for each in second), 0], pa.int32()).cast(pa.date32()),
        "i": pa.array(numbers(-400, 400), pa.int32()),
        "l": pa.array(numbers(-(10**9), 2 * 10**9), pa.int64()),
        "x": pa.array([each / 1000 for each in numbers(-(10**12), 10**12)], pa.float64()),
        "iv": pa.array(numbers(-(10**13), 10**13), pa.duration("us")),
        "mo": pa.array(numbers(0, 13), pa.int32()),
        "dy": pa.array(numbers(1, 32), pa.int32()),
        "hh": pa.array(numbers(0, 24), pa.int32()),
        "sec": pa.array([Decimal(each) / 10**6 for each in numbers(0, 60 * 10**6)], pa.decimal128(10, 6)),
        "ym": pa.array([*numbers(-400, 400)[3:], 2**31 - 1, -(2**31), None], pa.int64()).view(MONTHS),
    }
    return pa.RecordBatch.from_pydict(columns)
