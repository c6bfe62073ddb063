"""Avro and Protobuf from a broker are a table's rows; what is none is refused, or kept with its offset."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.functions import col, unhex

from dbsp.circuits.errors import Error
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from tests.dbsp.rows.avro.reading.test_decoder import encoded
from tests.dbsp.rows.test_protobuf import written
from tests.servers.kafka import Broker

pytestmark = pytest.mark.spark

KEY = {"type": "record", "name": "K", "fields": [{"name": "id", "type": "int"}]}
VALUE = {
    "type": "record",
    "name": "V",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "xs", "type": ["null", {"type": "array", "items": "long"}]},
    ],
}


def send(spark: Any, broker: Broker, topic: str, sent: list[tuple[bytes | None, bytes | None]]) -> None:
    texts = [tuple(None if part is None else part.hex() for part in pair) for pair in sent]
    frame = spark.createDataFrame(texts, "key STRING, value STRING").coalesce(1)
    frame = frame.select(*(unhex(col(name)).alias(name) for name in ("key", "value")))
    options = {"kafka.bootstrap.servers": broker.servers, "topic": topic}
    frame.write.format("kafka").options(**options).save()


def read(
    spark: Any, broker: Broker, directory: Path, topic: str, columns: str, options: str, said: str
) -> Any:
    """Rows of the table, and those that are bad."""
    text = f"""
    CREATE TABLE t ({columns}) USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}',
    subscribe '{topic}', startingOffsets 'earliest', {options}) WITH ({said});
    CREATE VIEW v AS SELECT * FROM t;
    """
    if "keep" in said:
        text += "CREATE VIEW broken AS SELECT origin, text, reason FROM bad_rows;"
    compiled = compile_program(text, str(directory / "p.sql"), session=spark)
    with Pipeline(compiled, spark=spark, runner="inline") as p:
        p.run(once=True)
        return p["v"].rows(), p["broken"].rows() if "keep" in said else None


def test_avro_by_key_and_value(spark: Any, broker: Broker, tmp_path: Path) -> None:
    (tmp_path / "value.avsc").write_text(json.dumps(VALUE))
    at = datetime(2024, 1, 2, 3, 4, 5, 6000, tzinfo=UTC)
    keys = encoded(KEY, [{"id": i} for i in (1, 2, 3)])
    values = encoded(VALUE, [{"id": i, "at": at, "xs": [i] if i < 3 else None} for i in (1, 2, 3)])
    broken = [
        (keys[1], b"\xff"),
        (b"\x80", None),
        (b"\x80", encoded(VALUE, [{"id": 3, "at": at, "xs": None}])[0]),
    ]
    send(spark, broker, "avro", [*zip(keys, values, strict=True), (keys[0], None), *broken])
    columns = "id INT PRIMARY KEY, xs ARRAY<BIGINT>, at TIMESTAMP"
    options = f"`value.schema` 'value.avsc', `key.schema` '{json.dumps(KEY)}'"
    said = "format = 'avro', mode = 'keep'"
    rows, broken = read(spark, broker, tmp_path, "avro", columns, options, said)
    assert [(row["id"], row["xs"]) for row in rows] == [(2, [2]), (3, None)]
    assert {row["at"].replace(tzinfo=None).microsecond for row in rows} == {6000}
    assert sorted((row["text"], row["reason"], row["origin"].startswith("offset ")) for row in broken) == [
        ("80", "it ends too early", True),
        ("ff", "it ends too early", True),
    ]
    with pytest.raises(Error, match=r"a message can't be decoded, in hexadecimal \w\w: it ends too early"):
        read(spark, broker, tmp_path, "avro", columns, options, "format = 'avro', mode = 'fail'")


def test_times_of_day_go_there_and_back(spark: Any, broker: Broker, tmp_path: Path) -> None:
    clock = {"type": "long", "logicalType": "time-micros"}
    fields = [{"name": "id", "type": "int"}, {"name": "h", "type": ["null", clock]}]
    schema = {"type": "record", "name": "V", "fields": fields}
    (tmp_path / "value.avsc").write_text(json.dumps(schema))
    hours = {1: time(10, 30, 0, 5), 2: None, 3: time(23, 59, 59, 999_999)}
    sent = encoded(schema, [{"id": i, "h": hour} for i, hour in hours.items()])
    send(spark, broker, "hours", [(None, each) for each in sent])
    options = (
        f"USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}', `value.schema` 'value.avsc',"
    )
    text = f"""
    CREATE TABLE t (id INT, h TIME) {options} subscribe 'hours', startingOffsets 'earliest')
    WITH (format = 'avro', append_only = true);
    CREATE VIEW v AS SELECT id, h, hour(h) AS n FROM t;
    CREATE TABLE o (id INT NOT NULL, h TIME) {options} topic 'hours_again') WITH (format = 'avro');
    INSERT INTO o SELECT id, h FROM t WHERE id IS NOT NULL;
    """
    compiled = compile_program(text, str(tmp_path / "p.sql"), session=spark)
    with Pipeline(compiled, state=tmp_path / "s", spark=spark, runner="inline") as p:
        p.run(once=True)
        assert {row["id"]: row["n"] for row in p["v"].rows()} == {1: 10, 2: None, 3: 23}
    said = "format = 'avro', append_only = true"
    rows, _ = read(
        spark, broker, tmp_path, "hours_again", "id INT, h TIME", "`value.schema` 'value.avsc'", said
    )
    assert {row["id"]: row["h"] for row in rows} == hours


def test_protobuf(spark: Any, broker: Broker, tmp_path: Path) -> None:
    descriptor, sale = written()
    (tmp_path / "shop.desc").write_bytes(descriptor)
    sent = [sale(n=i, text="é", kind="OLD", at={"x": i}).SerializeToString() for i in (1, 2)]
    send(spark, broker, "protobuf", [(None, sent[0]), (None, b"\xff"), (None, sent[1])])
    options = "`value.message` 'shop.Sale', `value.descriptor` 'shop.desc'"
    columns, said = (
        "n BIGINT, kind STRING, at STRUCT<x: INT>, maybe INT",
        "format = 'protobuf', mode = 'keep'",
    )
    rows, broken = read(spark, broker, tmp_path, "protobuf", columns, options, said)
    assert rows == [{"n": i, "kind": "OLD", "at": {"x": i}, "maybe": None} for i in (1, 2)]
    assert [row["text"] for row in broken] == ["ff"]
    with pytest.raises(Error, match=r"p\.sql.*table 't'.*no\.desc"):
        read(spark, broker, tmp_path, "protobuf", columns, options.replace("shop.d", "no.d"), said)
