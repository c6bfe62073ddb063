"""What a file sink has written, Spark reads back as what the view holds; options of messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.sinks import Sinks
from dbsp.pipeline.spark.decoding import reader_options
from dbsp.pipeline.spark.messages.options import KEY, VALUE, format_options, kafka_options
from dbsp.sql.compiler.load import compile_program
from tests.dbsp.build import VOTES, table

pytestmark = pytest.mark.spark

ATOMS = """
SELECT 1 AS id, TIMESTAMP'2024-03-01 10:00:00.000001' AS at,
  TIMESTAMP_NTZ'2024-03-01 10:00:00.123456' AS local, ' x ' AS text, double('NaN') AS d,
  CAST('-Infinity' AS FLOAT) AS f, -0.0D AS z, 1.50BD AS amount,
  DATE'0001-01-01' AS day, true AS b, -128Y AS tiny, 9223372036854775807 AS big,
  INTERVAL '1 02:03:04.000005' DAY TO SECOND AS took
UNION ALL SELECT 2, TIMESTAMP'1900-01-01 00:00:00.999999', TIMESTAMP_NTZ'0001-01-01 00:00:00',
  'a,"b\\\\c;é', 1e-320, 1.1, 0.1, -0.01, DATE'9999-12-31', false, 0, -9223372036854775808, INTERVAL '-1' DAY
UNION ALL SELECT 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
"""
NESTED = """
SELECT 1 AS id, array(1, NULL) AS list, map('a', 1.5D) AS pairs,
  named_struct('t', TIMESTAMP'2024-03-01 10:00:00.000001') AS s,
  X'00FF41' AS bytes, 'a\\nb\\r' AS text
UNION ALL SELECT 2, CAST(array() AS ARRAY<INT>), NULL, NULL, X'', ''
"""


@pytest.mark.parametrize(
    ("form", "query"),
    [
        ("csv", ATOMS),
        ("json", ATOMS),
        ("parquet", ATOMS),
        ("orc", ATOMS),
        *((f, NESTED) for f in ("json", "parquet", "orc")),
    ],
)
def test_what_is_read_back_is_what_the_view_holds(spark: Any, tmp_path: Path, form: str, query: str) -> None:
    wanted = spark.sql(query)
    columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in wanted.schema)
    text = (
        f"CREATE TABLE t ({columns}) WITH (append_only = true);"
        f"CREATE TABLE out ({columns}) USING {form} OPTIONS (path '{tmp_path}/out');"
        "INSERT INTO out SELECT * FROM t;"
    )
    program = compile_program(text, session=spark)
    with Pipeline(program, state=tmp_path / "state", spark=spark, runner="inline") as p:
        p.insert("t", wanted)
        p.step()
        Sinks(p).catch_up()
    found = spark.read.format(form).schema(wanted.schema).load(f"{tmp_path}/out").drop("__step")
    assert sorted(map(str, found.collect())) == sorted(map(str, wanted.collect()))


def test_what_the_options_say_is_left(spark: Any, tmp_path: Path) -> None:
    text = (
        "CREATE TABLE t (at TIMESTAMP, s STRING) WITH (append_only = true);"
        "CREATE TABLE out (at TIMESTAMP, s STRING) "
        f"USING csv OPTIONS (path '{tmp_path}/out', TIMESTAMPFORMAT 'yyyy', ignoreleadingwhitespace 'true');"
        "INSERT INTO out SELECT * FROM t;"
    )
    program = compile_program(text, session=spark)
    with Pipeline(program, state=tmp_path / "state", spark=spark, runner="inline") as p:
        p.insert("t", spark.sql("SELECT TIMESTAMP'2024-03-01 10:00:00' AS at, ' x ' AS s"))
        p.step()
        Sinks(p).catch_up()
    (row,) = spark.read.text(f"{tmp_path}/out").collect()
    assert row["value"] == "2024,x "


def test_options_of_messages_and_of_their_formats() -> None:
    options = {"subscribe": "t", "kafka.bootstrap.servers": "h:1", "value.MODE": "PERMISSIVE", "Key.sep": ";"}
    made = replace(table("t", VOTES), options=options)
    assert kafka_options(made) == {"subscribe": "t", "kafka.bootstrap.servers": "h:1"}
    assert format_options(made, VALUE, {"mode": "FAILFAST", "a": "b"}) == {"MODE": "PERMISSIVE", "a": "b"}
    assert format_options(made, KEY, {"mode": "FAILFAST"}) == {"mode": "FAILFAST", "sep": ";"}


@pytest.mark.parametrize(
    ("form", "options", "wanted"),
    [
        ("kafka", {"subscribe": "t"}, {"subscribe": "t", "kafka.fetch.max.wait.ms": "5"}),
        ("KAFKA", {"Kafka.Fetch.Max.Wait.MS": "70"}, {"Kafka.Fetch.Max.Wait.MS": "70"}),
        ("rate", {"rowsPerSecond": "1"}, {"rowsPerSecond": "1"}),
    ],
)
def test_a_consumer_answers_at_once_unless_told_otherwise(
    form: str, options: dict[str, str], wanted: dict[str, str]
) -> None:
    made = replace(table("t", VOTES), format=form, options=options)
    assert reader_options(made) == wanted
