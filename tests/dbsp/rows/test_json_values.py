"""JSON values of replay files: what a type prints, it reads back; what is none of a type is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.rows.json_values import decode, json_value

CASES: list[tuple[pa.DataType, st.SearchStrategy[Any], Any]] = [
    (pa.decimal128(10, 2), st.decimals(allow_nan=False, allow_infinity=False, places=2), str),
    (pa.date32(), st.dates(), lambda day: day.isoformat()),
    (pa.timestamp("us"), st.datetimes(), lambda moment: moment.isoformat(" ")),
    (pa.list_(pa.date32()), st.lists(st.dates()), lambda days: [day.isoformat() for day in days]),
]


@pytest.mark.parametrize(("data_type", "values", "spelled"), CASES, ids=lambda case: str(case)[:20])
@given(data=st.data())
def test_what_is_spelled_is_read_back(
    data: st.DataObject, data_type: pa.DataType, values: st.SearchStrategy[Any], spelled: Any
) -> None:
    value = data.draw(values)
    assert decode(spelled(value), data_type) == value
    assert decode(None, data_type) is None


@pytest.mark.parametrize(
    ("value", "data_type", "message"),
    [
        ("x", pa.float64(), "expected a number"),
        ("x", pa.decimal128(4, 1), "expected a decimal number"),
        ("~", pa.binary(), "expected base64 text"),
        ("2024-02-30", pa.date32(), "expected a date such as"),
        (5, pa.timestamp("us"), "expected a time such as"),
        (["a"], pa.map_(pa.string(), pa.int64()), "expected .*key, value.* or an object"),
    ],
)
def test_what_is_none_of_the_type_is_refused(value: Any, data_type: pa.DataType, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode(value, data_type)


def test_json_is_read_with_all_digits() -> None:
    assert json_value(b'{"x": 0.10, "n": 12}') == {"x": Decimal("0.10"), "n": 12}
    assert str(json_value("0.10")) == "0.10"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expecting property name"),
        (b'"\xff"', "can't decode"),
        ("1e99999999999999999999", "a number in it is beyond the range of every type"),
        ("9" * 5000, "a number in it is beyond the range of every type"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        json_value(text)
