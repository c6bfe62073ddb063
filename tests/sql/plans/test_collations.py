"""Types with collations: their texts' types, their DDL, and what Arrow's fields say of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.sql.plans.collations import (
    arrow_field,
    by_bytes,
    collated,
    column_of,
    with_collation,
    without_collations,
)
from dbsp.sql.plans.schemas import Field

LOWER = "string collate UTF8_LCASE"
OF_FIELD = {"__COLLATIONS": {"a": "icu.UNICODE"}}
STRUCT = {
    "type": "struct",
    "fields": [{"name": "a", "type": "string", "nullable": True, "metadata": OF_FIELD}],
}
LISTS = {
    "type": "struct",
    "fields": [
        {
            "name": "a",
            "type": {"type": "array", "elementType": "string", "containsNull": True},
            "nullable": True,
            "metadata": {"__COLLATIONS": {"a.element": "spark.UTF8_LCASE"}, "comment": "kept"},
        }
    ],
}


@pytest.mark.parametrize(
    ("spark", "ddl"),
    [
        ("string", ""),
        ("integer", ""),
        (LOWER, LOWER),
        ({"type": "array", "elementType": LOWER, "containsNull": True}, f"array<{LOWER}>"),
        (
            {"type": "map", "keyType": "integer", "valueType": LOWER, "valueContainsNull": True},
            f"map<int, {LOWER}>",
        ),
        (STRUCT, "struct<`a`: string collate UNICODE>"),
        (LISTS, f"struct<`a`: array<{LOWER}>>"),
        (
            {"type": "array", "elementType": STRUCT, "containsNull": True},
            "array<struct<`a`: string collate UNICODE>>",
        ),
    ],
)
def test_the_type_is_spelled_where_it_says_a_collation(spark: Any, ddl: str) -> None:
    assert collated(spark) == ddl
    assert collated(without_collations(spark)) == ""


def test_what_else_is_said_of_a_field_stays() -> None:
    assert without_collations(LISTS)["fields"][0]["metadata"] == {"comment": "kept"}


def test_a_default_is_of_texts_that_say_none() -> None:
    assert with_collation("string", LOWER) == LOWER
    assert with_collation("integer", LOWER) == "integer"
    assert with_collation("string collate UNICODE", LOWER) == "string collate UNICODE"
    assert with_collation(STRUCT, LOWER) == STRUCT
    inner = with_collation({"type": "array", "elementType": "string", "containsNull": True}, LOWER)
    assert collated(inner) == f"array<{LOWER}>"


@pytest.mark.parametrize("ddl", ["", LOWER])
def test_arrow_has_the_texts_and_the_name(ddl: str) -> None:
    column = Field("s", pa.string(), nullable=False, collated=ddl)
    field = arrow_field(column)
    assert column_of(field) == column
    assert field == pa.field("s", pa.string(), nullable=False)
    assert column.ddl == (ddl or "string")


@pytest.mark.parametrize(
    ("ddl", "expected"),
    [
        ("", True),
        ("string collate UTF8_BINARY", True),
        ("array<string collate UTF8_BINARY>", True),
        ("string collate UTF8_BINARY_RTRIM", False),
        ("struct<`a`: string collate UTF8_BINARY, `b`: string collate UNICODE>", False),
    ],
)
def test_one_collation_compares_bytes(ddl: str, expected: bool) -> None:
    assert by_bytes(ddl) == expected
