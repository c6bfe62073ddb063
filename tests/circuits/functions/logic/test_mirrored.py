"""Mirrored values compare the other way round, of every type that can have a waterline."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dbsp.circuits.expressions.mirror import mirrored
from dbsp.circuits.expressions.nodes import Column, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.logic.mirrored import mirrored_values

# in order
VALUES: dict[pa.DataType, list[Any]] = {
    pa.int8(): [-128, -1, 0, 1, 127],
    pa.int64(): [-(1 << 63), -1, 0, 1, (1 << 63) - 1],
    pa.float32(): [-math.inf, -1.5, 0.0, 1.5],
    pa.float64(): [-math.inf, -1.5, 0.0, 1.5],
    pa.decimal128(38, 2): [
        Decimal("-999999999999999999999999999999999999.99"),
        Decimal("0.00"),
        Decimal("1.50"),
    ],
    pa.date32(): [date(1, 1, 1), date(1970, 1, 1), date(2024, 2, 29)],
    pa.timestamp("us", "UTC"): [datetime(1, 1, 1), datetime(1969, 12, 31, 23), datetime(2024, 2, 29)],
    pa.timestamp("us"): [datetime(1, 1, 1), datetime(1969, 12, 31, 23), datetime(2024, 2, 29)],
}


@pytest.mark.parametrize("data_type", VALUES, ids=str)
def test_the_order_is_turned_around_and_back(data_type: pa.DataType) -> None:
    values = pa.array([*VALUES[data_type], None], data_type)
    turned = mirrored_values(values)
    assert turned.type == data_type
    there = turned[: len(turned) - 1]
    assert there.take(pc.sort_indices(there)).equals(there[::-1])
    assert turned.null_count == 1
    assert mirrored_values(turned).equals(values)
    assert mirrored_values(values[0]) == turned[0]
    assert mirrored_values(values[1:])[0] == turned[1]


@pytest.mark.parametrize("data_type", [pa.float32(), pa.float64()], ids=str)
def test_nothing_is_beyond_nan(data_type: pa.DataType) -> None:
    greatest = mirrored_values(pa.array([math.nan, math.inf, -0.0], data_type)).to_pylist()
    assert greatest == [-math.inf, -math.inf, 0.0]
    assert math.copysign(1, greatest[2]) == 1


def test_as_an_expression() -> None:
    rows = pa.record_batch([pa.array([3, None])], names=["x"])
    assert evaluate(mirrored(Column(0, pa.int64())), rows).to_pylist() == [-4, None]
    assert evaluate(mirrored(Literal(3, pa.int64())), rows).to_pylist() == [-4, -4]
