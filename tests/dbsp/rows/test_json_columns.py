"""What is vouched for is what Spark's from_json makes of the same messages, valid and broken ones."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.functions import col, from_json

from dbsp.rows.json_columns import JsonColumns, can_decode
from dbsp.running.spark.intervals import columns_ddl
from dbsp.sql.plans.schemas import Field
from tests.effort import is_long

TYPES: list[pa.DataType] = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float64(), pa.string(), pa.bool_()),
    *(pa.decimal128(7, 2), pa.decimal128(38, 10), pa.date32(), pa.timestamp("us", tz="UTC")),
    *(pa.timestamp("us"), pa.list_(pa.int32()), pa.struct([("x", pa.int64()), ("y", pa.date32())])),
    *(pa.list_(pa.struct([("x", pa.timestamp("us", tz="UTC"))])), pa.struct([("z", pa.list_(pa.string()))])),
]
FIELDS = tuple(Field(f"c{i}", type_) for i, type_ in enumerate(TYPES))
TIMES = [
    *(
        "2024-02-29T10:00:00.5Z",
        "2024-02-29 10:00:00",
        "2024-02-30T10:00:00Z",
        "2024-02-29T10:00:00.123456+05:30",
    ),
    *("2024-02-29T10:00:00.1234567Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999+17:59"),
    *(
        "2024-02-29T24:00:00Z",
        "2024-02-29T10:00:60Z",
        "2024-2-9 1:00:00",
        "2024-02-29",
        "2024-02-30",
        " 2024-02-29",
    ),
    *(
        "1582-10-10",
        "1582-10-10T00:00:00Z",
        "+2024-02-29",
        "2024-02-29T10:00Z",
        "2024-02-29T10:00:00+18:30",
        "now",
    ),
]
NUMBERS = [
    *(
        "0",
        "-0",
        "-0.0",
        "1",
        "-1",
        "127",
        "128",
        "255",
        "256",
        "-32769",
        "2147483648",
        "9223372036854775807",
    ),
    *(
        "9223372036854775808",
        "1.5",
        "1.005",
        "0.10",
        "1e2",
        "1E-3",
        "-1e400",
        "1e308",
        "4.9e-324",
        "12345.67",
    ),
    *(
        "123456.78",
        "1" * 40,
        "0." + "3" * 30,
        "NaN",
        "-NaN",
        "Infinity",
        "-Infinity",
        "Inf",
        "-Inf",
        "01",
        "+1",
        "1.",
    ),
    *(".5", "0x10", "1_0", "2.2250738585072011e-308", "9007199254740993", "0.1000000000", "1.50000"),
]
STRINGS = [
    *(
        '""',
        '"x"',
        '"1"',
        '"1.5"',
        '"true"',
        '"é😀"',
        '"\\u00e9\\ud83d\\ude00"',
        '"\\ud83d"',
        '"\\udc00"',
        '"\\u0000"',
    ),
    *(
        '"a\\nb"',
        '"a\nb"',
        '"\\q"',
        '"}\\n{"',
        '"}null"',
        '": Inf"',
        '"\x01"',
        "'x'",
        "x",
        '"\\/"',
        '"\x7f"',
        '"- Info"',
    ),
]
OTHERS = [
    "null",
    "true",
    "false",
    "True",
    "[]",
    "{}",
    "[1, null, 2]",
    "[1, [2]]",
    "[null]",
    '["a", "b"]',
    '[{"x": null}]',
]


def value(draw: random.Random, type_: pa.DataType | None = None) -> str:
    """A token, of that type if one is given."""
    if type_ is None or draw.random() < 0.03:
        times = [json.dumps(time) for time in TIMES]
        nested = [
            f'{{"x": {draw.choice(NUMBERS)}, "y": {draw.choice(times)}}}',
            f'{{"z": {draw.choice(OTHERS)}}}',
        ]
        return draw.choice([*NUMBERS, *STRINGS, *OTHERS, *times, *nested])
    if draw.random() < 0.1:
        return "null"
    if pa.types.is_integer(type_):
        return str(draw.choice([0, 1, -1, 100, draw.randrange(-128, 128)]))
    if pa.types.is_floating(type_):
        return repr(draw.choice([draw.random(), draw.gauss(0, 1e9), 10 ** draw.uniform(-300, 300), 7]))
    if pa.types.is_decimal(type_):
        text = str(Decimal(draw.randrange(-99999, 99999)).scaleb(-2))
        return draw.choice([text, f'"{text}"'])
    if pa.types.is_boolean(type_):
        return draw.choice(["true", "false"])
    if pa.types.is_string(type_):
        return draw.choice(STRINGS[:7])
    if pa.types.is_date(type_):
        return f'"20{draw.randrange(100):02}-1{draw.randrange(3)}-{draw.randrange(1, 31):02}"'
    if pa.types.is_timestamp(type_):
        fraction = draw.choice(["", ".5", ".123", f".{draw.randrange(10**6):06}"])
        zone = draw.choice(["Z", "+05:30", "-00:01"]) if type_.tz else ""
        return (
            f'"2024-01-{draw.randrange(1, 31)}{draw.choice("T ")}0{draw.randrange(10)}:59:00{fraction}{zone}"'
        )
    if pa.types.is_struct(type_):
        return "{" + ", ".join(f'"{f.name}": {value(draw, f.type)}' for f in type_) + "}"
    return "[" + ", ".join(value(draw, type_.value_type) for _ in range(draw.randrange(3))) + "]"


def message(draw: random.Random) -> bytes:
    """An object that is mostly a row; one in five is changed in a few places."""
    names = [(field.name, field.type) for field in FIELDS if draw.random() < 0.4]
    parts = [f'"{name}":{value(draw, type_)}' for name, type_ in names]
    if draw.random() < 0.2:
        name = draw.choice(["more", "C0", "c0", "\\u0063" + "1"])
        parts.append(f'"{name}": {value(draw)}')
    draw.shuffle(parts)
    text = "{" + draw.choice([",", ", ", " ,\n"]).join(parts) + "}"
    for _ in range(draw.choice([0, 0, 0, 0, draw.randrange(4)])):
        at = draw.randrange(len(text) + 1)
        put = draw.choice(["", "", *'{}[]",:\\ \n0-.eE', "null", "NaN", "Inf", "}null{", "}{", "\x00", "é"])
        text = text[:at] + put + text[at + draw.choice([0, 1]) :]
    written = text.encode("utf-8", "surrogatepass")
    return written.replace(b"x", b"\xff") if draw.random() < 0.01 else written


def by_spark(spark: Any, messages: list[bytes], fields: tuple[Field, ...]) -> list[dict[str, Any] | None]:
    """The rows, None for what is none."""
    given = spark.createDataFrame([(i, m) for i, m in enumerate(messages)], "i INT, m BINARY")
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "corrupt"}
    schema = f"{columns_ddl(fields)}, corrupt STRING"
    parsed = given.select("i", from_json(col("m").cast("string"), schema, options).alias("r"))
    table = parsed.select("i", "r.*").toArrow().sort_by("i").drop_columns(["i"])
    rows = map(_row, (table.slice(i, 1) for i in range(table.num_rows)))
    return [None if row.pop("corrupt", None) is not None else row for row in rows]


def _row(row: pa.Table) -> dict[str, Any]:
    try:
        return row.to_pylist()[0]
    except (OverflowError, ValueError):  # a number as a time that Python hasn't
        return {}


def held(messages: list[bytes]) -> pa.LargeBinaryArray:
    """Messages, a part of more."""
    return pa.array([b"{", *messages, b"}"], pa.large_binary()).slice(1, len(messages))


def told(rows: pa.RecordBatch) -> list[str]:
    """As text, which tells -0.0 from 0.0."""
    return [repr(row) for row in rows.to_pylist()]


@pytest.mark.spark
def test_what_is_vouched_for_is_what_spark_makes_of_it(spark: Any) -> None:
    draw = random.Random(12)
    messages = [message(draw) for _ in range(60_000 if is_long() else 2_000)]
    messages += [
        f'{{"c{i}": {token}}}'.encode() for i in range(len(FIELDS)) for token in (*NUMBERS, *STRINGS, *OTHERS)
    ]
    messages += [f'{{"c{i}": "{time}"}}'.encode() for i in (5, 9, 10, 11) for time in TIMES]
    messages += [f'{{"more": {token}}}'.encode() for token in (*NUMBERS, *STRINGS, *OTHERS)]
    deep, digits = '{"c0": 1, "more": ' + "[" * 1100 + "]" * 1100 + "}", f'{{"more": {"1" * 1100}}}'
    messages += [
        deep.encode(),
        digits.encode(),
        f'{{"{"n" * 60_000}": 1}}'.encode(),
        b"",
        b" {}",
        b"[]",
        b"1",
        b"{}",
    ]
    wanted = by_spark(spark, messages, FIELDS)
    columns = JsonColumns(FIELDS, "UTC")
    vouched = 0
    for text, row in zip(messages, wanted, strict=True):
        found = columns.decode(held([text]))
        if found is not None:
            assert row is not None, text
            assert told(found) == [repr(row)], text
            vouched += 1
    assert vouched > 0.5 * sum(row is not None for row in wanted)
    for _ in range(2_000):  # of several at once each is its own, whatever stands beside it
        chosen = [draw.randrange(len(messages)) for _ in range(draw.randrange(2, 5))]
        found = columns.decode(held([messages[i] for i in chosen]))
        if found is not None:
            assert told(found) == [repr(wanted[i]) for i in chosen], [messages[i] for i in chosen]


@pytest.mark.spark
def test_times_without_a_zone_are_the_session_s(spark: Any) -> None:
    fields = (Field("c", pa.timestamp("us", tz="UTC")),)
    text = [b'{"c": "2024-06-01T10:00:00"}']
    assert JsonColumns(fields, "America/New_York").decode(held(text)) is None
    found = JsonColumns(fields, "UTC").decode(held(text))
    assert found is not None and found.to_pylist() == by_spark(spark, text, fields)


@pytest.mark.parametrize(
    "messages",
    [
        [b'{"a":1,', b'"a":2}', b'{"a":1}{"a":2}'],
        [b'{"a":1}\n{"a":', b"2}"],
        [b'{"a":"', b'"}'],
        [b'{"a":[1,{"b":2}', b'{"b":3}]}'],
        [b'{"a":1}null{"a":1}', b"{}"],
        [b"null"],
        [b'{"a":1}', b""],
    ],
)
def test_no_message_is_part_of_another(messages: list[bytes]) -> None:
    for type_ in (pa.int64(), pa.string()):
        assert JsonColumns((Field("a", type_),), "UTC").decode(held(messages)) is None


def test_no_messages_are_no_rows() -> None:
    found = JsonColumns(FIELDS, "UTC").decode(held([]))
    assert found is not None
    assert (found.num_rows, found.schema.names) == (0, [field.name for field in FIELDS])


def test_types_that_are_never_vouched_for() -> None:
    others = [pa.float32(), pa.binary(), pa.map_(pa.string(), pa.int32()), pa.duration("us"), pa.struct([])]
    assert not any(can_decode(type_) for other in others for type_ in (other, pa.list_(other)))
    assert all(can_decode(type_) for type_ in TYPES)
