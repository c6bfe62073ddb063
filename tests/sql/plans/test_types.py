"""Spark's types and Arrow's are the same types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.variants.type import VARIANT
from dbsp.sql.catalyst import Catalyst
from dbsp.sql.plans.types import (
    UnsupportedType,
    arrow_type,
    coarse_time,
    ddl,
    intervals_in,
    literal_type,
    type_name,
)

CASES = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal(12,3)": pa.decimal128(12, 3),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "interval day to second": pa.duration("us"),
    "interval year to month": MONTHS,
    "array<int>": pa.list_(pa.int32()),
    "map<string, double>": pa.map_(pa.string(), pa.float64()),
    "struct<`a``b`: int>": pa.struct([("a`b", pa.int32())]),
    "struct<`a b`: int, `c`: array<string>>": pa.struct([("a b", pa.int32()), ("c", pa.list_(pa.string()))]),
}


@pytest.mark.parametrize("spelled", CASES)
def test_ddl_spells_the_type(spelled: str) -> None:
    assert ddl(CASES[spelled]) == spelled


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        (pa.decimal128(12, 3), "DECIMAL(12,3)"),
        (MONTHS, "INTERVAL YEAR TO MONTH"),
        (
            pa.map_(pa.string(), pa.struct([("aB", pa.int32()), ("a b", pa.date32())])),
            "MAP<STRING, STRUCT<aB: INT, `a b`: DATE>>",
        ),
        (
            pa.struct([("a`b", pa.list_(pa.int32())), ("1a", VARIANT)]),
            "STRUCT<`a``b`: ARRAY<INT>, `1a`: VARIANT>",
        ),
        (pa.month_day_nano_interval(), "month_day_nano_interval"),  # no column has it
    ],
)
def test_names_for_messages(type_: pa.DataType, name: str) -> None:
    assert type_name(type_) == name


@pytest.mark.spark
def test_spark_reads_what_is_spelled(spark: Any) -> None:
    catalyst = Catalyst(spark)
    for spelled, arrow in CASES.items():
        assert arrow_type(catalyst.column_type(spelled)) == arrow, spelled
        assert arrow_type(catalyst.column_type(type_name(arrow))) == arrow, spelled


@pytest.mark.spark
def test_char_and_varchar_are_strings(spark: Any) -> None:
    catalyst = Catalyst(spark)
    assert arrow_type(catalyst.column_type("VARCHAR(10)")) == pa.string()
    assert arrow_type(catalyst.column_type("ARRAY<CHAR(3)>")) == pa.list_(pa.string())


@pytest.mark.parametrize("name", ["interval", "void", "string collate UNICODE"])
def test_no_column_has_these_types(name: str) -> None:
    with pytest.raises(UnsupportedType, match=name):
        arrow_type(name)


def test_constants_have_more_types_than_columns() -> None:
    assert literal_type("void") == pa.null()
    empty = {"type": "map", "keyType": "void", "valueType": "void", "valueContainsNull": False}
    assert literal_type(empty) == pa.map_(pa.string(), pa.null())
    assert literal_type("interval") == CALENDAR_INTERVAL


def test_types_inside_are_found_and_no_field_that_is_called_so() -> None:
    def of(name: str, inner: Any) -> dict[str, Any]:
        field = {"name": name, "type": inner, "nullable": True, "metadata": {"is": "time(1)"}}
        return {"type": "struct", "fields": [field]}

    map_ = {"type": "map", "keyType": "interval day", "valueType": of("t", "time(3)")}
    assert coarse_time({"type": "array", "elementType": map_, "containsNull": True}) == "time(3)"
    assert intervals_in([map_, "interval month"]) == ["interval day", "interval month"]
    named = of("time(3)", of("interval day", "time(6)"))
    assert (coarse_time(named), intervals_in(named)) == ("", [])
