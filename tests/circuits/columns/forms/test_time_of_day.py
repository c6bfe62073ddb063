"""TIME as texts, and texts as TIME."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.time_of_day import (
    TIME,
    holds_time,
    in_microseconds,
    read,
    read_time,
    spelled,
)

TIMES = st.lists(st.none() | st.times())


@given(TIMES)
def test_what_is_spelled_is_read(values: list[time | None]) -> None:
    column = pa.array(values, TIME)
    assert read(spelled(column)).equals(column)
    assert [
        text if text is None else time.fromisoformat(text) for text in spelled(column).to_pylist()
    ] == values


def test_as_spark_casts_it() -> None:
    assert spelled(
        pa.array([time(10), time(0, 0, 0, 500_000), None, time(1, 2, 3, 100)], TIME)
    ).to_pylist() == [
        "10:00:00",
        "00:00:00.5",
        None,
        "01:02:03.0001",
    ]


def test_one() -> None:
    assert read_time("10:00") == time(10)
    for wrong in ("24:00:00", "10:00:00.1234567", "10:00:00Z", "10:00:00+01:00", "ten", "", 5, "1970-01-01"):
        with pytest.raises(ValueError, match="expected a time of day"):
            read_time(wrong)


def test_types() -> None:
    assert all(map(holds_time, (TIME, pa.list_(TIME), pa.struct([("n", pa.int64()), ("t", TIME)]))))
    assert not any(map(holds_time, (pa.int64(), pa.timestamp("ns"), pa.list_(pa.duration("us")))))


@pytest.mark.parametrize("of", [lambda t: t, pa.list_, lambda t: pa.struct([("a", t), ("b", pa.int8())])])
def test_in_microseconds_wherever_it_is(of: Callable[[pa.DataType], pa.DataType]) -> None:
    outer = pa.map_(pa.string(), of(TIME))
    value: Any = time(1, 2, 3, 456789)
    value = [value, None] if pa.types.is_list(of(TIME)) else value
    value = {"a": value, "b": 1} if pa.types.is_struct(of(TIME)) else value
    made = in_microseconds(pa.array([[("x", value), ("y", None)], None], outer))
    assert made.type == pa.map_(pa.string(), of(pa.time64("us")))
    assert made.to_pylist() == [[("x", value), ("y", None)], None]
    plain = pa.array([1])
    assert in_microseconds(plain) is plain
