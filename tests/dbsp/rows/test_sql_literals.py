"""Values of SQL, at their places."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.rows.sql_literals import literal, typed
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Cursor, tokens


def cursor(text: str) -> Cursor:
    source = as_it_is(text, "values")
    return Cursor(source, tokens(source))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("(7L)", 7),
        ("-1.50BD", Decimal("-1.50")),
        ("1e3D", Decimal("1e3")),
        ("'it''s'", "it's"),
        ("TRUE", True),
        ("null", None),
        ("DATE '2024-02-29'", date(2024, 2, 29)),
        ("X'00ff'", b"\x00\xff"),
        ("INTERVAL 5 MINUTES", timedelta(minutes=5)),
        ("INTERVAL '1-2' YEAR TO MONTH", pa.MonthDayNano([14, 0, 0])),
        ("ARRAY(1, NULL)", [1, None]),
        ("MAP('a', 1, 'b', NULL)", [("a", 1), ("b", None)]),
        ("NAMED_STRUCT('a', 1, 'b', STRUCT(2))", {"a": 1, "b": (2,)}),
        ("CAST(NULL AS DECIMAL(10, 2))", None),
        ("CAST('2024-02-29' AS DATE)", date(2024, 2, 29)),
        ("CAST('1.5' AS DOUBLE)", 1.5),
    ],
)
def test_each_is_a_value(text: str, value: Any) -> None:
    assert literal(cursor(text)) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "(1, 2)", "DATE 'yesterday'", "-", "(7", "CAST(1 AS INT)", "CAST('x' AS DOUBLE)"),
        *("MAP('a')", "MAP('a', 1, 'a', 2)", "NAMED_STRUCT('a', 1, 'b')", "NAMED_STRUCT(ARRAY(1), 2)"),
    ],
)
def test_what_is_none_is_said_where(text: str) -> None:
    with pytest.raises(ProgramError, match="values:1:"):
        literal(cursor(text))


def test_a_value_of_another_type_is_said_with_its_column() -> None:
    at = cursor("'x'")
    with pytest.raises(ProgramError, match="'x' doesn't fit column 'd'"):
        typed(at, at.next, "x", "d", pa.date32())
