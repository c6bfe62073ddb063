"""Values of columns from texts."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.json_text import fields_of
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.circuits.columns.variants.type import VARIANT
from dbsp.circuits.errors import DataError
from dbsp.rows.literals import array_of
from dbsp.rows.texts import value_of, values_of
from dbsp.sql.plans.schemas import Field
from dbsp.testing.choices import Seeded
from dbsp.testing.domains import edges, usual, value

COLUMNS = (Field("n", pa.int64()), Field("Name", pa.string()), Field("d", pa.date32()))


def test_each_is_read_as_its_column_s_type() -> None:
    assert values_of(COLUMNS, [("n", "7"), ("name", "7"), ("d", "2024-01-31")]) == {
        "n": 7,
        "name": "7",
        "d": date(2024, 1, 31),
    }
    assert value_of("x", "1.50", pa.decimal128(10, 2)) == Decimal("1.50")
    assert value_of("x", "TRUE", pa.bool_()) is True
    assert values_of(COLUMNS, [("nobody", "7")]) == {"nobody": "7"}


SIMPLE = [
    *(pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string()),
    *(pa.binary(), pa.date32(), pa.timestamp("us"), pa.timestamp("us", tz="UTC"), TIME, pa.duration("us")),
    *(MONTHS, pa.decimal128(10, 2), pa.decimal128(38, 0), pa.decimal128(3, 3)),
]
NESTED = [
    *(pa.list_(pa.float32()), pa.struct([("x", pa.int32()), ("y", pa.timestamp("us"))])),
    pa.map_(pa.string(), pa.float64()),
]


@pytest.mark.parametrize("type_", [*SIMPLE, *NESTED], ids=str)
def test_what_is_shown_of_a_value_is_the_value(type_: pa.DataType) -> None:
    drawn = [value(Seeded(seed), type_, nullable=False) for seed in range(100)]
    held = array_of(drawn if type_ in NESTED else [*drawn, *usual(type_), *edges(type_)], type_)
    read = [value_of("x", text, type_) for text in fields_of(held)]
    assert fields_of(array_of(read, type_)) == fields_of(held)


def test_a_variant_is_json() -> None:
    held = array_of([value_of("x", '{"a": [1, "b"]}', VARIANT)], VARIANT)
    assert fields_of(held) == ['{"a":[1,"b"]}']


@pytest.mark.parametrize("type_", [pa.float32(), pa.float64()], ids=str)
@pytest.mark.parametrize(
    "text", ["0", "-0", "1.5", ".5", "5.", "1e3", "5e-324", "1.7976931348623157E+308", "1e-999"]
)
def test_a_number_is_any_spelling_of_it(text: str, type_: pa.DataType) -> None:
    assert value_of("x", text, type_) == float(text)


@pytest.mark.parametrize(
    ("text", "type_", "said"),
    [
        ("1_0", pa.int32(), "expected a whole number, such as 7"),
        ("1.5", pa.int64(), "expected a whole number, such as 7"),
        ("٣", pa.int64(), "expected a whole number"),
        ("9" * 5000, pa.int64(), "expected a whole number"),
        ("1 day", pa.duration("us"), "expected a whole number of microseconds, such as 1000000"),
        ("maybe", pa.bool_(), "expected true or false"),
        ("x", pa.float64(), "expected a number, NaN, Infinity, -Infinity"),
        ("1_0.5", pa.float64(), "expected a number"),
        ("1e400", pa.float64(), "beyond the range of a DOUBLE"),
        ("1e99999999999999999999999", pa.float32(), "beyond the range of a DOUBLE"),
        ("1_0", pa.decimal128(4, 1), "expected a decimal number"),
        ("NaN", pa.decimal128(4, 1), "expected a decimal number"),
        ("1e99999999999999999999999", pa.decimal128(4, 1), "expected a decimal number"),
        ("a", MONTHS, "expected a number of months, or years and months such as '1-2'"),
        ("a", pa.list_(pa.int32()), "expected it as JSON has it"),
        ("[1e99999999999999999999999]", pa.list_(pa.int32()), "expected it as JSON has it"),
        ("[" * 100_000, VARIANT, "expected it as JSON has it"),
    ],
)
def test_what_is_no_value_says_what_is_expected(text: str, type_: pa.DataType, said: str) -> None:
    with pytest.raises(DataError, match=said):
        value_of("x", text, type_)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("n", "seven", "n=seven doesn't fit BIGINT"), ("d", "31.1.", "d=31.1. doesn't fit DATE")],
)
def test_what_is_no_value_is_refused_by_name(name: str, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        values_of(COLUMNS, [(name, text)])
    with pytest.raises(DataError, match="n= is there twice"):
        values_of(COLUMNS, [("n", "1"), ("n", "2")])
