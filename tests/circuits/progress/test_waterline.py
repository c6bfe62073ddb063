"""Waterlines at the ends of their types."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.progress.waterline import Lateness, as_shown, column_name, later, shift, waterline_name


@pytest.mark.parametrize(
    ("data_type", "value", "amount", "expected"),
    [
        (pa.int8(), -100, -100, -128),
        (pa.int64(), 2**63 - 5, 10, 2**63 - 1),
        (pa.decimal128(4, 2), Decimal("-99.9"), Decimal("-0.5"), Decimal("-99.99")),
        (pa.decimal128(4, 2), Decimal("50"), Decimal("90"), Decimal("99.99")),
        (pa.decimal128(38, 0), Decimal(10**38 - 2), 1, Decimal(10**38 - 1)),
        (pa.decimal128(38, 0), Decimal(10**38 - 1), -1, Decimal(10**38 - 2)),
        (pa.float64(), 1.5, -0.25, 1.25),
        (pa.float32(), 16777216.0, -0.25, 16777215.0),
        (pa.float32(), 16777216.0, 0.25, 16777218.0),
        (pa.float32(), 2.0, -0.25, 1.75),
    ],
)
def test_a_shift_stays_within_the_type(
    data_type: pa.DataType, value: Any, amount: Any, expected: Any
) -> None:
    assert shift(pa.scalar(value, data_type), amount) == pa.scalar(expected, data_type)


def test_a_row_at_the_end_of_its_type_sets_a_waterline_that_nothing_is_below() -> None:
    lateness = Lateness("t.c", 0, pa.decimal128(4, 2), Decimal("0.5"), Decimal("90"))
    least, most = (pa.array([Decimal(f"{sign}99.99")], lateness.type) for sign in ("-", ""))
    line = lateness.candidate(least)
    assert line is not None
    assert not lateness.late(least, line).any()
    assert lateness.jumps(most, line).all()
    assert not lateness.jumps(most, pa.scalar(Decimal("50"), lateness.type)).any()


def test_of_a_column_that_decreases_what_is_above_is_late() -> None:
    lateness = Lateness(waterline_name("t", "c", True), 0, pa.int64(), 2, 5, decreasing=True)
    values = pa.array([10, None, 12], pa.int64())
    line = lateness.candidate(values)
    assert as_shown({lateness.name: line, "t.d": line}) == {lateness.name: pa.scalar(12), "t.d": line}
    assert lateness.late(pa.array([12, 13, None]), line).tolist() == [False, True, False]
    assert lateness.jumps(pa.array([5, 4, 13]), line).tolist() == [False, True, False]
    assert lateness.passes(pa.array([5, 12]), line)
    assert not lateness.passes(pa.array([5, 13]), line)
    assert (lateness.key, column_name(lateness.name)) == (~0, "t.c")


def test_nan_is_above_any_waterline() -> None:
    falling = Lateness("t.c", 0, pa.float64(), 0.5, decreasing=True)
    line = falling.candidate(pa.array([math.nan, 3.0]))
    assert line == pa.scalar(-3.5)
    column = pa.array([math.nan, math.inf, 3.5, None])
    assert falling.late(column, line).tolist() == [True, True, False, False]
    assert not falling.passes(pa.array([math.nan, 1.0]), line)
    assert falling.candidate(pa.array([math.nan])) is None


def test_the_later_of_two() -> None:
    a, b = pa.scalar(1, pa.int32()), pa.scalar(2, pa.int32())
    assert (later(a, b), later(b, a), later(None, a), later(a, None), later(None, None)) == (b, b, a, a, None)
