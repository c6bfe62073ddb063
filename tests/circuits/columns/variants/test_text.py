"""Variants of types that JSON has none for, as Spark spells them; and bytes that are no variant."""

# ruff: noqa: E501  a query a line
from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.variants.parsed import parsed
from dbsp.circuits.columns.variants.text import MalformedVariant, texts
from dbsp.circuits.columns.variants.type import Variant
from tests.circuits.columns.variants.test_parsed import stored

# fmt: off
VALUES = [
    "date'2024-02-29'", "date'0001-01-01'", "timestamp'2024-02-29 10:00:00'", "timestamp'1969-12-31 23:59:59.999999'",
    "timestamp_ntz'2024-02-29 10:00:00.120'", "x'0102ff'", "x''", "1.5f", "CAST(0.1 AS FLOAT)", "16777216f", "1e-10f", "3.4e38f",
    "double('NaN')", "float('-Infinity')", "-0.0d", "123456789012345678901234567890.12BD", "1.10BD", "-0.05BD",
]
# fmt: on


@pytest.mark.spark
def test_types_that_json_has_none_for(spark: Any) -> None:
    structs = ", ".join(f"struct(to_variant_object(array({value})) AS v)" for value in VALUES)
    rows = spark.sql(f"SELECT inline(array({structs}))").selectExpr("v", "to_json(v) AS t").collect()
    mine = texts(stored([Variant(bytes(row.v.value), bytes(row.v.metadata)) for row in rows]))
    assert mine == [row.t for row in rows]


def test_nothing_is_null() -> None:
    assert texts(stored([None, parsed("null"), parsed('"null"')])) == ["null", "null", '"null"']
    assert texts(stored([None, parsed("[1]")]).slice(1)) == ["[1]"]


def test_bytes_that_are_no_variant_are_told() -> None:
    whole = parsed('{"b": {}, "a": [1, 1.5, 1e5, "text"]}')
    for end in range(1, len(whole.value)):
        with pytest.raises(MalformedVariant, match="no variant is written as"):
            texts(stored([Variant(whole.value[:end], whole.metadata)]))
    for end in range(1, len(whole.metadata) - 1):
        with pytest.raises(MalformedVariant):
            texts(stored([Variant(whole.value, whole.metadata[:end])]))
    assert texts(pa.concat_arrays([stored([whole]), stored([None])])) == [
        '{"a":[1,1.5,100000.0,"text"],"b":{}}',
        "null",
    ]
