"""The values that tables hold in tests: domains so small that rows, keys and weights collide all the time."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.circuits.columns.variants.parsed import parsed
from dbsp.circuits.columns.variants.type import VARIANT
from dbsp.testing.choices import Choices, chance


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# around the borders of ten-minute windows, before 1970, on a leap day
_TIMES = ["2024-02-29 10:00:00", "2024-02-29 10:09:59.999999", "2024-02-29 10:10:00", "1969-12-31 23:55:00"]

# the first value is what a failing example shrinks to
DOMAINS: dict[str, list[Any]] = {
    "TINYINT": [0, 1, 2, -1],
    "SMALLINT": [0, 1, 2, -1],
    "INT": [0, 1, 2, 3, -1],
    "BIGINT": [0, 1, 2, 3],
    "FLOAT": [0.0, 1.5, -2.25, float("nan")],
    "DOUBLE": [0.0, 1.5, -2.25, 1e16, -0.0, float("nan"), 0.1, float("inf")],
    "DECIMAL(10,2)": [Decimal("0.00"), Decimal("1.50"), Decimal("-2.25"), Decimal("99.99")],
    "STRING": ["", "a", "b", "ab", "ä", "日本"],
    "BOOLEAN": [False, True],
    "BINARY": [b"", b"\x00", b"a"],
    "DATE": [date(2024, 2, 29), date(1969, 12, 31), date(2024, 3, 1)],
    "TIMESTAMP": [_at(text) for text in _TIMES],
    "TIMESTAMP_NTZ": [_at(text).replace(tzinfo=None) for text in _TIMES],
    "TIME": [time(10), time(0), time(10, 9, 59, 999999), time(23, 59, 59)],
    "INTERVAL YEAR TO MONTH": [0, 1, 14, -25],
    "ARRAY<INT>": [[], [1], [1, None], [None, 1], [1, 2]],
    "STRUCT<x: INT, y: STRING>": [
        {"x": 1, "y": "a"},
        {"x": None, "y": "a"},
        {"x": 1, "y": None},
        {"x": None, "y": None},
    ],
    "VARIANT": [
        dict(zip(("variant value", "variant metadata"), parsed(text), strict=True))
        for text in (
            '{"a": 1, "b": [2, null]}',
            "1",
            '"a"',
            "null",
            '{"b": {"a": 1.50}, "a": "x"}',
            "[1.5e0]",
        )
    ],
}

ARROW: dict[str, pa.DataType] = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DECIMAL(10,2)": pa.decimal128(10, 2),
    "STRING": pa.string(),
    "BOOLEAN": pa.bool_(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
    "TIME": TIME,
    "INTERVAL YEAR TO MONTH": MONTHS,
    "ARRAY<INT>": pa.list_(pa.int32()),
    "STRUCT<x: INT, y: STRING>": pa.struct([("x", pa.int32()), ("y", pa.string())]),
    "VARIANT": VARIANT,
}

# none like UNICODE_AI, along which nothing goes by keys
COLLATIONS = (
    *("UTF8_LCASE", "UNICODE_CI", "UTF8_LCASE_RTRIM", "UNICODE_CI_RTRIM", "UTF8_BINARY_RTRIM", "UNICODE"),
    *("UTF8_BINARY", "de_CI_AI", "UNICODE_CI_AI_RTRIM"),
)
# of each collation but the binary one some are equal; the fourth is written in two letters
_TEXTS = ["a", "A", "ä", "a\u0308", "Ä", "a ", "ß", "ss", "SS", "b", "B  ", "", " ", "İ"]
# by the type of a column that has a collation: what holds its values
COLLATED: dict[str, pa.DataType] = {}
for _name in COLLATIONS:
    _text = f"STRING COLLATE {_name}"
    _list, _struct = f"ARRAY<{_text}>", f"STRUCT<s: {_text}, i: INT>"
    COLLATED |= {_text: pa.string(), _list: pa.list_(pa.string())}
    COLLATED[_struct] = pa.struct([("s", pa.string()), ("i", pa.int32())])
    DOMAINS |= {_text: _TEXTS, _list: [[], ["a"], ["A", "b"], ["a ", None], ["ß", "ss", "SS"]]}
    DOMAINS[_struct] = [{"s": s, "i": i} for s in ("a", "A", "Ä", "b", None) for i in (1, 2)]


def value(choices: Choices, kind: str, nullable: bool = True) -> Any:
    """Some value of that SQL type, one time in six NULL."""
    if nullable and chance(choices, 6):
        return None
    return choices.choice(DOMAINS[kind])
