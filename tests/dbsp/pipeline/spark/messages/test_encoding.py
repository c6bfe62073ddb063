"""What a sink of ours writes to Kafka, a source of ours reads back as the same table.

A program writes views in every shape and format to topics; another reads them as its tables, several steps at
once, and some of them written again. After each reading its tables are the first one's views.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, timestamp_pb2

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from tests.dbsp.pipeline.spark.sales import COLUMNS, SALES, step
from tests.effort import is_long
from tests.servers.kafka import Broker, messages
from tests.servers.registry import SchemaRegistry

pytestmark = pytest.mark.spark

KEYED = "shop INT, who STRING, n BIGINT NOT NULL, at TIMESTAMP, PRIMARY KEY (shop, who)"
# what a user would write for these columns
SCHEMA = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "shop", "type": ["null", "int"]},
        {"name": "unknown", "type": {"type": "array", "items": "Row"}, "default": []},
        {"name": "at", "type": [{"type": "long", "logicalType": "timestamp-micros"}, "null"]},
        {"name": "who", "type": ["null", "string"]},
        {
            "name": "amount",
            "type": [
                "null",
                {
                    "type": "fixed",
                    "name": "D",
                    "size": 5,
                    "logicalType": "decimal",
                    "precision": 9,
                    "scale": 2,
                },
            ],
        },
    ],
}
FIELD = descriptor_pb2.FieldDescriptorProto
SALE = {"shop": FIELD.TYPE_INT32, "who": FIELD.TYPE_STRING, "at": None, "amount": FIELD.TYPE_STRING}
PERSON = {"at": None, "shop": FIELD.TYPE_INT32, "who": FIELD.TYPE_STRING, "n": FIELD.TYPE_INT64}
KEY = {"shop": FIELD.TYPE_INT32, "who": FIELD.TYPE_STRING}
PROTOBUF = {
    "Sale": "`value.message` 'shop.Sale', `value.descriptor` 'shop.desc'",
    "Person": "`value.message` 'shop.Person', `value.descriptor` 'shop.desc', "
    "`key.message` 'shop.Key', `key.descriptor` 'shop.desc'",
}
AVRO = "format = 'avro', schema_registry = '{registry}'"
# columns, what is said in WITH, the view, whether a step that is written again leaves the same table, options
EDGES: dict[str, tuple[str, str, str, bool, str]] = {
    "weights": (f"{COLUMNS}, __weight BIGINT", "format = 'json'", "rows_of", False, ""),
    "ops": (f"__op STRING, {COLUMNS}, __step BIGINT", "format = 'json'", "rows_of", False, ""),
    "csv_ops": (f"__op STRING, {COLUMNS}", "format = 'csv'", "rows_of", False, ""),
    "upserts": (KEYED, "format = 'json'", "per_person", True, ""),
    "csv_upserts": (f"__op STRING, {KEYED}", "format = 'csv', key_format = 'json'", "per_person", True, ""),
    "envelopes": (KEYED, "format = 'json', changelog = 'debezium'", "per_person", True, ""),
    "bag_envelopes": (COLUMNS, "format = 'json', changelog = 'debezium'", "rows_of", False, ""),
    "raw": ("who STRING PRIMARY KEY, n STRING", "format = 'raw'", "per_who", True, ""),
    "avro_weights": (f"{COLUMNS}, __weight BIGINT", AVRO, "rows_of", False, ""),
    "avro_ops": (f"__op STRING, {COLUMNS}", "format = 'avro'", "rows_of", False, "`value.schema` 'row.avsc'"),
    "avro_upserts": (KEYED, AVRO, "per_person", True, ""),
    "avro_by_json": (KEYED, f"{AVRO}, key_format = 'json'", "per_person", True, ""),
    "avro.envelopes": (KEYED, f"{AVRO}, changelog = 'debezium'", "per_person", True, ""),
    "avro_bag_envelopes": (COLUMNS, f"{AVRO}, changelog = 'debezium'", "rows_of", False, ""),
    "protobuf_ops": (f"__op STRING, {COLUMNS}", "format = 'protobuf'", "rows_of", False, PROTOBUF["Sale"]),
    "protobuf_upserts": (KEYED, "format = 'protobuf'", "per_person", True, PROTOBUF["Person"]),
}
FIRST = f"""{SALES}CREATE VIEW per_who AS SELECT coalesce(who, '-') AS who, CAST(sum(amount) AS STRING) AS n
FROM sale WHERE amount IS NOT NULL GROUP BY coalesce(who, '-');
"""
# of a format and a shape that others have too, in the long profile
OFTEN = {"csv_ops", "upserts", "bag_envelopes", "envelopes", "avro_weights", "avro_upserts", "protobuf_ops"}
TRIED = {topic: edge for topic, edge in EDGES.items() if is_long() or topic not in OFTEN}
ROUNDS, STEPS = (3 if is_long() else 2), 2


def descriptor() -> bytes:
    """Of the columns as messages; `at` is a Timestamp, and what can be NULL is optional."""
    well_known = descriptor_pb2.FileDescriptorProto.FromString(timestamp_pb2.DESCRIPTOR.serialized_pb)
    file = descriptor_pb2.FileDescriptorProto(name="shop.proto", package="shop", syntax="proto3")
    file.dependency.append(well_known.name)
    for name, fields in (("Sale", SALE), ("Person", PERSON), ("Key", KEY)):
        message = file.message_type.add(name=name)
        for number, (field, type_) in enumerate(fields.items(), 1):
            added = message.field.add(name=field, number=number, label=1)
            if type_ is None:
                added.type, added.type_name = FIELD.TYPE_MESSAGE, ".google.protobuf.Timestamp"
            else:
                added.type = type_
            if name == "Sale" and type_ is not None:
                added.proto3_optional, added.oneof_index = True, len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field}")
    return descriptor_pb2.FileDescriptorSet(file=[well_known, file]).SerializeToString()


def test_chained_programs_are_one(
    spark: Any, broker: Broker, schemas: SchemaRegistry, tmp_path: Path
) -> None:
    (tmp_path / "row.avsc").write_text(json.dumps(SCHEMA))
    (tmp_path / "shop.desc").write_bytes(descriptor())
    draw = random.Random(0)
    first, second = FIRST, ""
    for topic, (columns, given, view, _, options) in TRIED.items():
        name, said = topic.replace(".", "_"), given.replace("{registry}", schemas.url)
        server = ", ".join([f"`kafka.bootstrap.servers` '{broker.servers}'", *filter(None, [options])])
        target = f"USING kafka OPTIONS ({server}, topic '{topic}')"
        source = f"USING kafka OPTIONS ({server}, subscribe '{topic}', startingOffsets 'earliest')"
        first += f"CREATE TABLE {name} ({columns}) {target} WITH ({said});\n"
        first += f"INSERT INTO {name} SELECT * FROM {view};\n"
        second += f"CREATE TABLE {name} ({columns}) {source} WITH ({said});\n"
        second += f"CREATE VIEW v_{name} AS SELECT * FROM {name};\n"
    path = str(tmp_path / "p.sql")
    sender, receiver = (compile_program(text, path, session=spark) for text in (first, second))
    again = {topic.replace(".", "_"): edge[3] for topic, edge in TRIED.items()}
    present: list[tuple[Any, ...]] = []
    with Pipeline(sender, state=tmp_path / "first", spark=spark, runner="inline") as p:
        p.store.durable = False
        step(p, draw, present)  # which makes the topics
        for _ in range(ROUNDS):
            for _ in range(STEPS):
                step(p, draw, present)
            with Pipeline(receiver, state=tmp_path / "second", spark=spark, runner="inline") as q:
                q.store.durable = False
                q.run(once=True)
                for topic, (_, _, view, _, _) in TRIED.items():
                    assert q[f"v_{topic.replace('.', '_')}"].rows() == p[view].rows(), topic
            # as when it died before it could note that the last step was written
            assert p._sinks is not None
            for name, delivery in p._sinks._delivered.items():
                if again[name]:
                    p._sinks._delivered[name] = replace(delivery, step=delivery.step - 1)
            p.deliver()


def test_what_a_message_says(spark: Any, broker: Broker, tmp_path: Path) -> None:
    text = f"""
    CREATE TABLE t (id BIGINT NOT NULL, a STRING, PRIMARY KEY (id));
    CREATE TABLE said (id BIGINT, a STRING, PRIMARY KEY (id))
    USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}', topic 'said') WITH (format = 'json');
    INSERT INTO said SELECT * FROM t;
    """
    with Pipeline(compile_program(text, session=spark), state=tmp_path, spark=spark, runner="inline") as p:
        p.insert("t", [(1, "x"), (2, None)])
        p.step()
        p.upsert("t", [(1, "y")])
        p.delete("t", [(2,)])
        p.step()
    found = messages(spark, broker, "said")
    assert sorted(found[b'{"id":1}']) == [
        (b'{"id":1,"a":"x"}', {"op": b"I", "step": b"1"}),
        (b'{"id":1,"a":"y"}', {"op": b"U", "step": b"2"}),
    ]
    assert found[b'{"id":2}'] == [
        (b'{"id":2,"a":null}', {"op": b"I", "step": b"1"}),
        (None, {"op": b"D", "step": b"2"}),
    ]
