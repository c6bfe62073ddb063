"""Casts between intervals, numbers and text, by the units that the parts of an interval have."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.calling import called

MICROS = pa.duration("us")
UNIT = {"day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}
units = st.sampled_from(sorted(UNIT))


def cast(array: pa.Array, target: pa.DataType, kind: str, mode: str = "ANSI") -> list[Any]:
    return called("cast", target, array, interval=kind, evalMode=mode, timeZoneId="UTC")


@given(st.lists(st.one_of(st.none(), st.integers(-10_000, 10_000)), max_size=6), units)
def test_numbers_of_a_unit(counts: list[int | None], unit: str) -> None:
    spelled = [None if n is None else timedelta(microseconds=n * UNIT[unit]) for n in counts]
    assert cast(pa.array(counts, pa.int32()), MICROS, unit) == spelled
    assert cast(pa.array(spelled, MICROS), pa.int64(), unit) == counts


@given(st.lists(st.integers(-(10**12), 10**12), max_size=6), units)
def test_whole_units_towards_zero(micros: list[int], unit: str) -> None:
    found = cast(pa.array(micros, pa.int64()).view(MICROS), pa.int64(), unit)
    assert found == [int(Decimal(n) / UNIT[unit]) for n in micros]


@given(st.lists(st.integers(-(10**12), 10**12), max_size=6))
def test_seconds_have_a_fraction(micros: list[int]) -> None:
    array = pa.array(micros, pa.int64()).view(MICROS)
    assert cast(array, pa.decimal128(18, 6), "second") == [Decimal(n).scaleb(-6) for n in micros]
    back = cast(pa.array([Decimal(n).scaleb(-6) for n in micros], pa.decimal128(18, 6)), MICROS, "second")
    assert back == array.to_pylist()


@pytest.mark.parametrize(
    ("micros", "kind", "left"),
    [
        (90_061_000_001, "day to hour", 90_000_000_000),
        (-90_061_000_001, "day to minute", -90_060_000_000),
        (90_061_000_001, "hour to second", 90_061_000_001),
        (90_061_000_001, "day", 86_400_000_000),
    ],
)
def test_what_is_after_the_last_part_is_cut_off(micros: int, kind: str, left: int) -> None:
    assert cast(pa.array([micros], pa.int64()).view(MICROS), MICROS, kind) == [timedelta(microseconds=left)]


def months(*counts: int | None) -> pa.Array:
    return pa.array(counts, pa.int64()).view(MONTHS)


def test_years_and_months() -> None:
    assert cast(months(25, -25, None), pa.int32(), "year") == [2, -2, None]
    assert cast(months(25), MONTHS, "year") == months(24).to_pylist()
    assert cast(pa.array([3], pa.int32()), MONTHS, "year") == months(36).to_pylist()
    # HALF_UP to whole months
    halves = pa.array([Decimal("1.5"), Decimal("0.04"), Decimal("-0.125")], pa.decimal128(5, 3))
    assert cast(halves, MONTHS, "year") == months(18, 0, -2).to_pylist()


@pytest.mark.parametrize(
    ("array", "kind", "text"),
    [
        (months(14), "year to month", "INTERVAL '1-2' YEAR TO MONTH"),
        (months(-1), "year to month", "INTERVAL '-0-1' YEAR TO MONTH"),
        (months(24), "year", "INTERVAL '2' YEAR"),
        (pa.array([90_061_500_000], MICROS), "day to second", "INTERVAL '1 01:01:01.5' DAY TO SECOND"),
        (pa.array([-86_400_000_000], MICROS), "day", "INTERVAL '-1' DAY"),
        (pa.array([5_400_000_000], MICROS), "hour to minute", "INTERVAL '01:30' HOUR TO MINUTE"),
    ],
)
def test_text_and_back(array: pa.Array, kind: str, text: str) -> None:
    assert cast(array, pa.string(), kind) == [text]
    assert cast(pa.array([text, None]), array.type, kind) == [array[0].as_py(), None]


def test_what_does_not_fit() -> None:
    many = pa.array([2**62], pa.int64())
    with pytest.raises(EvaluationError, match="CAST_OVERFLOW"):
        cast(many, MICROS, "day")
    assert cast(many, MICROS, "day", "TRY") == [None]
    with pytest.raises(EvaluationError, match="CAST_OVERFLOW"):
        cast(pa.array([2**31], pa.int64()), MONTHS, "month")
    assert cast(pa.array(["one day"]), MICROS, "day", "TRY") == [None]
    with pytest.raises(EvaluationError) as raised:
        cast(pa.array(["1", "one day"]), MICROS, "day")
    assert raised.value.row == 1
