"""Literals as Spark reads them; tests/laws/test_shape_laws.py asks Spark."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from dbsp.sql.text.literals.written import written
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import tokens


@pytest.mark.parametrize(
    ("text", "value", "type_"),
    [
        ("05", 5, pa.int32()),
        ("2147483647", 2147483647, pa.int32()),
        ("3000000000", 3000000000, pa.int64()),
        ("7L", 7, pa.int64()),
        ("7s", 7, pa.int16()),
        ("1.50", Decimal("1.50"), pa.decimal128(3, 2)),
        (".05", Decimal("0.05"), pa.decimal128(2, 2)),
        ("7BD", Decimal(7), pa.decimal128(1, 0)),
        ("1e3", 1000.0, pa.float64()),
        ("2.5D", 2.5, pa.float64()),
        ("'it\\'s'", "it's", pa.string()),
        ("r'a'", "a", pa.string()),
        ("DATE '2024-01-02'", date(2024, 1, 2), pa.date32()),
        ("TIMESTAMP '2024-01-02'", datetime(2024, 1, 2, tzinfo=UTC), pa.timestamp("us", tz="UTC")),
        ("TIMESTAMP_NTZ '2024-01-02 03:04:05.6'", datetime(2024, 1, 2, 3, 4, 5, 600_000), pa.timestamp("us")),
    ],
)
def test_a_literal(text: str, value: object, type_: pa.DataType) -> None:
    (one,) = written(tokens(as_it_is(f"SELECT {text}", "q")), "UTC")
    assert (one.value, one.type, one.start, one.stop) == (value, type_, 7, 7 + len(text))


@pytest.mark.parametrize(
    "text",
    [
        "2147483648",  # an INT with a minus before it, else a BIGINT
        "9223372036854775808",
        "128Y",
        "1.5F",
        "'a' 'b'",
        "'a\\\\b'",  # a backslash, which LIKE escapes with
        "'today'",
        "'a\\nb'",
        "X'1F'",
        "INTERVAL '1' DAY",
        "DATE '2024-02-30'",
        "DATE '2024'",
        "TIMESTAMP 'now'",
        "a1",
    ],
)
def test_what_is_left_to_spark(text: str) -> None:
    assert written(tokens(as_it_is(f"SELECT {text}", "q")), "UTC") == []


def test_a_time_of_another_zone_is_left_to_spark() -> None:
    assert written(tokens(as_it_is("SELECT TIMESTAMP '2024-01-02'", "q")), "Europe/Paris") == []
