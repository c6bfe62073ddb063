"""Messages that are encoded by columns are those that Spark makes of the same records."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbsp.pipeline.spark.messages.columns import MessageColumns, has_columns
from dbsp.pipeline.spark.messages.encoding import encoded
from dbsp.running.spark.intervals import columns_ddl
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Field
from tests.effort import is_long

pytestmark = pytest.mark.spark

TYPES = {
    "a": ("TINYINT", [-128, 0, 127]),
    "b": ("SMALLINT", [-32768, 7]),
    "c": ("BIGINT", [-(2**63), 0, 2**63 - 1]),
    "d": ("FLOAT", [0.1, -0.0, float("nan"), 1e20, 3.4e38, 1e-7]),
    "e": ("DOUBLE", [0.1, -0.0, float("inf"), 1e7, 1e-3, 9007199254740993.0, 5e-324]),
    "f": ("DECIMAL(20, 3)", [Decimal("1.500"), Decimal("-0.001"), Decimal("12345678901234567.890")]),
    "g": ("STRING", ["", 'a"b\\c', "\x00\x1f\n\t", "é\u2028😀", "</script>", "\x7f"]),
    "h": ("BINARY", [b"", b"\x00\xff", b"abc"]),
    "i": ("DATE", [dt.date(1, 1, 1), dt.date(1970, 1, 1), dt.date(9999, 12, 31)]),
    "j": ("TIMESTAMP", [dt.datetime(2024, 3, 31, 1, 30, 0, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 9)]),
    "k": ("TIMESTAMP_NTZ", [dt.datetime(2024, 3, 31, 2, 30), dt.datetime(1600, 1, 1, 0, 0, 0, 123456)]),
    "l": ("BOOLEAN", [True, False]),
    "m": ("ARRAY<INT>", [[], [1, None]]),
    "n": ("STRUCT<x: DOUBLE, `y y`: STRUCT<z: STRING>>", [{"x": 1.5, "y y": {"z": None}}, {"x": None}]),
    "o": ("MAP<STRING, DATE>", [[], [("k", dt.date(2024, 2, 29)), ("", None)]]),
}  # fmt: skip
COLUMNS = ", ".join(f"{name} {type_}" for name, (type_, _) in TYPES.items())
KEYED = f"id INT PRIMARY KEY, w STRING, {COLUMNS}"
RAW_KEY = f"id STRING PRIMARY KEY, w STRING, {COLUMNS}"
# what is said, and the shape of what is inserted
TABLES = {
    "keyed": (KEYED, "format = 'json'", "upsert"),
    "bag": (f"id INT, w STRING, {COLUMNS}, __weight BIGINT", "format = 'json'", "retract"),
    "plain": (f"id INT, w STRING, {COLUMNS}", "format = 'json'", "append"),
    "envelopes": (KEYED, "format = 'json', changelog = 'debezium'", "upsert"),
    "raw": ("id STRING PRIMARY KEY, w BINARY", "format = 'raw'", "upsert"),
    "raw_key": (RAW_KEY, "format = 'json', key_format = 'raw'", "upsert"),
}


def target(spark: Any, columns: str, said: str, options: str = "") -> Table:
    given = ", append_only = true" if "__weight" not in columns and "PRIMARY KEY" not in columns else ""
    text = f"""CREATE TABLE t ({columns.replace(", __weight BIGINT", "")}) WITH (unchecked = true{given});
    CREATE TABLE out ({columns}) USING kafka OPTIONS (`kafka.bootstrap.servers` 'x', topic 'x'{options})
    WITH ({said});
    INSERT INTO out SELECT * FROM t;
    """
    return compile_program(text, session=spark).tables["out"]


def records(table: Table, draw: random.Random, count: int) -> pa.RecordBatch:
    """Of the target's columns and `__op`."""
    rows = []
    for number in range(count):
        row: dict[str, Any] = {"id": number, "w": draw.choice(["x", None]), "__weight": draw.choice([1, -2])}
        rows.append(row | {name: draw.choice([*values, None]) for name, (_, values) in TYPES.items()})
    columns = [
        pa.array([row["id"] for row in rows]).cast(field.type)
        if field.name == "id"
        else pa.array([row[field.name] for row in rows], field.type)
        for field in table.schema
    ]
    ops = pa.array([draw.choice("IUD") for _ in rows], pa.string())
    return pa.RecordBatch.from_arrays([*columns, ops], [*(f.name for f in table.schema), "__op"])


# texts of times are the same in every shape
@pytest.mark.parametrize(("name", "zone"), [*((name, "UTC") for name in TABLES), ("keyed", "Europe/Berlin")])
def test_they_are_those_that_spark_makes(spark: Any, name: str, zone: str) -> None:
    columns, said, shape = TABLES[name]
    table, is_upsert = target(spark, columns, said), shape == "upsert"
    assert has_columns(table)
    rows = records(table, random.Random(name), 400 if is_long() else 100)
    ddl = columns_ddl([*table.schema, Field("__op", pa.string())])
    frame = spark.createDataFrame(pa.Table.from_batches([rows]), ddl).coalesce(1)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        made = encoded(table, frame, 7, is_upsert).collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    wanted = [
        (
            binary(row["key"]) if "key" in row else None,
            binary(row["value"]),
            [(header.key, bytes(header.value)) for header in row.headers],
        )
        for row in made
    ]
    assert [*MessageColumns(table, zone, is_upsert).of(rows, 7)] == wanted


def binary(part: Any) -> bytes | None:
    return None if part is None else part.encode() if isinstance(part, str) else bytes(part)


@pytest.mark.parametrize(
    ("columns", "said", "options"),
    [
        ("a INT", "format = 'csv'", ""),
        ("a INTERVAL DAY TO SECOND", "format = 'json'", ""),
        ("a TIMESTAMP", "format = 'json'", ", `value.timestampFormat` 'yyyy'"),
        ("a INT PRIMARY KEY, b INT", "format = 'json', key_format = 'csv'", ""),
    ],
)
def test_what_is_left_to_spark(spark: Any, columns: str, said: str, options: str) -> None:
    assert not has_columns(target(spark, columns, said, options))
