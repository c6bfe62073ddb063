"""Waterlines at the ends of their types."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.progress.waterline import Lateness, later, shift


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


def test_the_later_of_two() -> None:
    a, b = pa.scalar(1, pa.int32()), pa.scalar(2, pa.int32())
    assert (later(a, b), later(b, a), later(None, a), later(a, None), later(None, None)) == (b, b, a, a, None)
