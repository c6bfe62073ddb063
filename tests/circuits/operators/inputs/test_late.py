"""What `late_rows` says of a row: JSON, whatever the row holds."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.operators.inputs.late import row_text


@pytest.mark.parametrize(
    ("data_type", "values", "expected"),
    [
        (pa.int64(), [1, None], [1, None]),
        (pa.bool_(), [True, False], [True, False]),
        (pa.decimal128(6, 2), [Decimal("9.50")], ["9.50"]),
        (
            pa.float64(),
            [1e300, 4.0, None, float("nan"), float("inf"), -float("inf")],
            [1e300, 4.0, None, "NaN", "Infinity", "-Infinity"],
        ),
        (pa.string(), ['a"b\\c\n\r\té', None], ['a"b\\c\n\r\té', None]),
        (pa.binary(), [b"\x00\xff", None], ["AP8=", None]),
        (pa.date32(), [date(2024, 2, 29)], ["2024-02-29"]),
        (pa.timestamp("us", tz="UTC"), [datetime(2024, 2, 29, 10)], ["2024-02-29T10:00:00Z"]),
        (pa.list_(pa.int32()), [[1, None]], [[1, None]]),
    ],
)
def test_rows_are_json(data_type: pa.DataType, values: list[Any], expected: list[Any]) -> None:
    rows = pa.RecordBatch.from_arrays([pa.array(values, data_type)], names=["c"])
    assert [json.loads(text) for text in row_text(rows).to_pylist()] == [{"c": value} for value in expected]


def test_columns_are_named() -> None:
    rows = pa.RecordBatch.from_arrays([pa.array([1]), pa.array(["x"])], names=['a "b"', "c"])
    assert row_text(rows).to_pylist() == ['{"a \\"b\\"": 1, "c": "x"}']
