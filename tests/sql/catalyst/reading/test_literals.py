"""Catalyst's internal values as Python's, with what no calendar has."""

from __future__ import annotations

import base64
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.expressions.nodes import Literal
from dbsp.sql.catalyst.reading.literals import broken_text, literal_value
from dbsp.sql.plans.types import UnsupportedType

UTC_TIME, LOCAL = pa.timestamp("us", tz="UTC"), pa.timestamp("us")
DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("value", "data_type", "expected"),
    [
        (None, pa.int64(), None),
        (5, pa.int8(), 5),
        ("1.50", pa.decimal128(10, 2), Decimal("1.50")),
        ("-Infinity", pa.float64(), -math.inf),
        (base64.b64encode(b"\xff\x00").decode(), pa.binary(), b"\xff\x00"),
        (19782, pa.date32(), date(2024, 2, 29)),
        (-1, pa.date32(), date(1969, 12, 31)),
        (DAY + 1, UTC_TIME, datetime(1970, 1, 2, 0, 0, 0, 1, tzinfo=UTC)),
        (DAY + 1, LOCAL, datetime(1970, 1, 2, 0, 0, 0, 1)),
        (14, MONTHS, timedelta(seconds=14)),
        (-5, pa.duration("us"), timedelta(microseconds=-5)),
        ([1, None], pa.list_(pa.int64()), (1, None)),
        (
            {"keys": ["a"], "values": [[0]]},
            pa.map_(pa.string(), pa.list_(pa.date32())),
            (("a", (date(1970, 1, 1),)),),
        ),
        ([1, "x"], pa.struct([("n", pa.int64()), ("s", pa.string())]), (1, "x")),
    ],
)
def test_values(value: Any, data_type: pa.DataType, expected: Any) -> None:
    found = literal_value(value, data_type)
    assert (found, type(found)) == (expected, type(expected))
    hash(found)


def test_there_is_one_nan() -> None:
    found, one = literal_value("NaN", pa.float64()), math.nan
    assert found is one


@pytest.mark.parametrize(
    ("value", "data_type"), [(4_000_000, pa.date32()), (DAY * 4_000_000, UTC_TIME), (-DAY * 800_000, LOCAL)]
)
def test_beyond_pythons_calendar_there_is_the_count(value: int, data_type: pa.DataType) -> None:
    assert literal_value(value, data_type) == value
    assert (
        pa.scalar(value, data_type).cast(pa.int32() if data_type == pa.date32() else pa.int64()).as_py()
        == value
    )


def test_the_least_interval_is_none_of_pythons() -> None:
    assert literal_value(-(2**63), pa.duration("us")) == -(2**63)


def test_text_that_is_no_utf8_is_a_cast_of_its_bytes() -> None:
    call = broken_text({"bytes": base64.b64encode(b"\xff").decode()})
    assert (call.function, call.arguments, call.type) == (
        "cast",
        (Literal(b"\xff", pa.binary()),),
        pa.string(),
    )
    with pytest.raises(UnsupportedType, match="no UTF-8"):
        literal_value([{"bytes": "/w=="}], pa.list_(pa.string()))
