"""What a function returned is kept as it is, or refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.functions.python.fitting import check_fit

WHOLE, SMALL, DAY, TIME = pa.int64(), pa.float32(), pa.date32(), pa.timestamp("us", "UTC")
STRUCT = pa.struct({"a": WHOLE, "s": pa.string()})
KEPT: list[tuple[Any, pa.DataType]] = [
    (7, WHOLE),
    (7.0, WHOLE),
    (np.int32(7), WHOLE),
    (Decimal("7.00"), WHOLE),
    (1.5, pa.float64()),
    (1, pa.float64()),
    (1e30, SMALL),
    (float("inf"), SMALL),
    (float("nan"), SMALL),
    (date(2024, 1, 2), DAY),
    (datetime(2024, 1, 2), DAY),
    (datetime(2024, 1, 2, 3, tzinfo=UTC), TIME),
    ("x", pa.string()),
    (Decimal("1.5"), pa.decimal128(5, 2)),
]
LOST: list[tuple[Any, pa.DataType]] = [
    (0.5, WHOLE),
    (np.float32(0.5), WHOLE),
    (Decimal("1.5"), WHOLE),
    (float("nan"), WHOLE),
    (1e300, SMALL),
    (3, DAY),
    (datetime(2024, 1, 2, 3), DAY),
    (3, TIME),
]
INSIDE: list[tuple[Callable[[Any], Any], Callable[[pa.DataType], pa.DataType]]] = [
    (lambda value: value, lambda type_: type_),
    (lambda value: [None, value], pa.list_),
    (lambda value: {"a": value, "s": "x"}, lambda type_: pa.struct({"a": type_, "s": pa.string()})),
    (lambda value: {"k": value}, lambda type_: pa.map_(pa.string(), type_)),
    (lambda value: [("k", value)], lambda type_: pa.map_(pa.string(), type_)),
    (lambda value: {value: "v"}, lambda type_: pa.map_(type_, pa.string())),
    (lambda value: [{"a": [value]}], lambda type_: pa.list_(pa.struct({"a": pa.list_(type_)}))),
]


@pytest.mark.parametrize(("value", "type_"), KEPT)
@pytest.mark.parametrize(("within", "of"), INSIDE)
def test_what_arrow_keeps_passes(value: Any, type_: pa.DataType, within: Any, of: Any) -> None:
    check_fit([None, within(value)], of(type_))
    (_, made) = pa.array([None, within(value)], type=of(type_))
    assert made.is_valid


@pytest.mark.parametrize(("value", "type_"), LOST)
@pytest.mark.parametrize(("within", "of"), INSIDE)
def test_what_arrow_would_change_is_refused(value: Any, type_: pa.DataType, within: Any, of: Any) -> None:
    with pytest.raises(ValueError):
        check_fit([within(value)], of(type_))


def test_a_field_that_is_none_is_named() -> None:
    check_fit([{"a": 1}, None, (1, "x")], STRUCT)
    with pytest.raises(ValueError, match="'b' is no field; fields: a, s"):
        check_fit([{"a": 1, "b": 2}], STRUCT)
