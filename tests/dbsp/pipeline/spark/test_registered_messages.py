"""Avro whose schemas are in a registry: writers change theirs, some can't be read, the registry goes."""

from __future__ import annotations

import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.rows import registry
from dbsp.rows.avro.reading.framed import framed
from dbsp.rows.registry import Registry
from dbsp.sql.compiler.load import compile_program
from tests.dbsp.pipeline.spark.test_binary_messages import send
from tests.dbsp.rows.avro.reading.test_decoder import encoded
from tests.servers.kafka import Broker, messages
from tests.servers.registry import SchemaRegistry

pytestmark = pytest.mark.spark


def record(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "shop.Sale", "fields": list(fields)}


ID, WIDE_ID = {"name": "id", "type": "int"}, {"name": "id", "type": "long"}
WHO = {"name": "who", "type": ["null", "string"], "default": None}
RENAMED = {"name": "customer", "type": ["null", "string"], "aliases": ["who"], "default": None}
AMOUNT = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}


def program(broker: Broker, url: str, topic: str, said: str = "", options: str = "") -> str:
    return f"""
    CREATE TABLE t (id BIGINT NOT NULL, who STRING, note STRING)
    USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}', subscribe '{topic}',
    startingOffsets 'earliest' {options}) WITH (format = 'avro', schema_registry = '{url}'{said});
    CREATE VIEW v AS SELECT * FROM t;
    """


def test_writers_that_change_their_schema(
    spark: Any, broker: Broker, schemas: SchemaRegistry, tmp_path: Path
) -> None:
    one = Registry(schemas.url)
    written = [
        (record(ID), {"id": 1}),
        (record(WHO, WIDE_ID), {"who": "x", "id": 2}),
        (
            record(RENAMED, WIDE_ID, {"name": "paid", "type": AMOUNT}),
            {"customer": "y", "id": 3, "paid": Decimal(5)},
        ),
        (record({"name": "id", "type": "string"}), {"id": "no"}),
    ]
    sent = []
    for i, (schema, row) in enumerate(written):
        number = one.register(f"changing-{i}", json.dumps(schema))
        sent.append((None, framed(number) + encoded(schema, [row])[0]))
    sent += [(None, b"\x00\x7f\xff\xff\xff"), (None, b"plain")]
    send(spark, broker, "changing", sent)
    text = program(broker, schemas.url, "changing", ", mode = 'keep'")
    text += "CREATE VIEW broken AS SELECT origin, text, reason FROM bad_rows;"
    with Pipeline(
        compile_program(text, str(tmp_path / "p.sql"), session=spark), spark=spark, runner="inline"
    ) as p:
        p.run(once=True)
        found = {row["id"]: row["who"] for row in p["v"].rows()}
        broken = {row["text"]: row["reason"] for row in p["broken"].rows()}
    assert found == {1: None, 2: "x", 3: "y"}
    assert broken == {
        sent[3][1].hex(): "field 'id' is a string, which is no BIGINT",
        "007fffffff": f"the schema registry {schemas.url} has no schemas/ids/2147483647",
        b"plain".hex(): "it has no schema's number: a byte 0, then four of it",
    }
    failing = compile_program(program(broker, schemas.url, "changing", ", mode = 'fail'"), session=spark)
    with Pipeline(failing, spark=spark, runner="inline") as p, pytest.raises(Error, match="can't be decoded"):
        p.run(once=True)


def test_the_columns_own_schema_says_defaults(
    spark: Any, broker: Broker, schemas: SchemaRegistry, tmp_path: Path
) -> None:
    number = Registry(schemas.url).register("old", json.dumps(record(ID)))
    send(spark, broker, "old", [(None, framed(number) + encoded(record(ID), [{"id": 1}])[0])])
    own = record(WIDE_ID, WHO, {"name": "note", "type": "string", "default": "none yet"})
    (tmp_path / "own.avsc").write_text(json.dumps(own))
    text = program(broker, schemas.url, "old", "", ", `value.schema` 'own.avsc'")
    with Pipeline(
        compile_program(text, str(tmp_path / "p.sql"), session=spark), spark=spark, runner="inline"
    ) as p:
        p.run(once=True)
        assert p["v"].rows() == [{"id": 1, "who": None, "note": "none yet"}]


def test_what_a_connector_of_debezium_writes(
    spark: Any, broker: Broker, schemas: SchemaRegistry, tmp_path: Path
) -> None:
    """An envelope with more fields than ours, a row within it by its name, a tombstone after a deletion."""
    row = {"type": "record", "name": "Value", "fields": [ID, WHO]}
    envelope = {
        "type": "record",
        "name": "Envelope",
        "namespace": "server.shop.sale",
        "fields": [
            {"name": "before", "type": ["null", row], "default": None},
            {"name": "after", "type": ["null", "Value"], "default": None},
            {"name": "source", "type": {"type": "record", "name": "Source", "fields": [ID]}},
            {"name": "op", "type": "string"},
            {"name": "ts_ms", "type": ["null", "long"], "default": None},
        ],
    }
    number = Registry(schemas.url).register("server.shop.sale-value", json.dumps(envelope))
    changes = [
        (None, {"id": 1, "who": "x"}, "r"),
        (None, {"id": 2, "who": None}, "c"),
        ({"id": 1, "who": "x"}, {"id": 1, "who": "y"}, "u"),
        ({"id": 2, "who": None}, None, "d"),
    ]
    values = [{"before": b, "after": a, "source": {"id": 7}, "op": op, "ts_ms": 5} for b, a, op in changes]
    sent = [(b"k", framed(number) + each) for each in encoded(envelope, values)]
    send(spark, broker, "server.shop.sale", [*sent, (b"k", None)])
    text = program(broker, schemas.url, "server.shop.sale", ", changelog = 'debezium'")
    text = text.replace("id BIGINT NOT NULL, who STRING, note STRING", "id BIGINT PRIMARY KEY, who STRING")
    with Pipeline(compile_program(text, "p.sql", session=spark), spark=spark, runner="inline") as p:
        p.run(once=True)
        assert p["v"].rows() == [{"id": 1, "who": "y"}]


def test_a_registry_that_is_gone_fails_the_step_and_loses_nothing(
    spark: Any, broker: Broker, schemas: SchemaRegistry, tmp_path: Path
) -> None:
    """The password is in no message; what failed is done when the program's registry is there again."""
    number = Registry(schemas.url).register("gone", json.dumps(record(ID)))
    send(
        spark,
        broker,
        "gone",
        [(None, framed(number) + encoded(record(ID), [{"id": i}])[0]) for i in range(3)],
    )

    def run(url: str) -> list[Any]:
        compiled = compile_program(program(broker, url, "gone"), "p.sql", session=spark)
        with Pipeline(compiled, state=tmp_path / "state", spark=spark, runner="inline") as p:
            p.run(once=True)
            return [row["id"] for row in p["v"].rows()]

    with pytest.raises(Error) as raised:
        run("http://me:secret@127.0.0.1:9/x")
    said = str(raised.value)
    assert "the schema registry http://127.0.0.1:9/x doesn't answer, asked 6 times: " in said
    assert "secret" not in said
    assert run(schemas.url) == [0, 1, 2]


def test_a_sink_whose_registry_is_gone(
    spark: Any, broker: Broker, schemas: SchemaRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step is true; it is delivered when the registry is there, under the schema's number."""
    monkeypatch.setattr(registry, "WAITS", (0.0,))

    def opened(url: str) -> Pipeline:
        text = f"""
        CREATE TABLE s (id BIGINT NOT NULL, who STRING, PRIMARY KEY (id));
        CREATE TABLE sent (id BIGINT, who STRING, PRIMARY KEY (id))
        USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}', topic 'sent.on')
        WITH (format = 'avro', schema_registry = '{url}');
        INSERT INTO sent SELECT * FROM s;
        """
        return Pipeline(
            compile_program(text, "p.sql", session=spark), state=tmp_path / "s", spark=spark, runner="inline"
        )

    with opened("http://me:secret@127.0.0.1:9") as p:
        p.insert("s", [(1, "x")])
        with pytest.raises(DeliveryError, match=r"registry http://127\.0\.0\.1:9 doesn't answer") as raised:
            p.step()
        assert "secret" not in str(raised.value) and p.last_step == 1
    with opened(schemas.url) as p:
        p.deliver()
    one = Registry(schemas.url)
    value, key = (one.fetch(f"subjects/sent.on-{part}/versions/1") for part in ("value", "key"))
    assert json.loads(value["schema"])["name"] == "sent.on.Value"
    ((found, ((sent, headers),)),) = messages(spark, broker, "sent.on").items()
    assert found == framed(key["id"]) + b"\x02" and headers["op"] == b"I"
    assert sent == framed(value["id"]) + b"\x02\x02\x02x"


def test_a_schema_that_the_subject_does_not_take(
    spark: Any, broker: Broker, schemas: SchemaRegistry, tmp_path: Path
) -> None:
    """What the registry says of it is said; rows that its own schema can't hold are refused by name."""
    shutil.copy(__file__, tmp_path / "none.avsc")
    text = f"""
    CREATE TABLE s (id BIGINT NOT NULL, PRIMARY KEY (id));
    CREATE TABLE sent (id BIGINT, __op STRING)
    USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}', topic 'narrow', `value.schema` '{{0}}')
    WITH (format = 'avro', schema_registry = '{schemas.url}');
    INSERT INTO sent SELECT * FROM s;
    """
    for schema, error in (
        ("none.avsc", "table 'sent': the Avro schema can't be read"),
        ("absent.avsc", "table 'sent': .*absent.avsc"),
        (
            json.dumps(record(ID)),
            "column 'id' can be NULL, and its field in the Avro schema can't; declare it",
        ),
    ):
        compiled = compile_program(text.format(schema), str(tmp_path / "p.sql"), session=spark)
        with pytest.raises(Error, match=error), Pipeline(compiled, spark=spark, runner="inline") as p:
            p.insert("s", [(1,)])
            p.step()
    narrow = json.dumps(record({"name": "id", "type": ["null", "int"]}))
    compiled = compile_program(text.format(narrow), str(tmp_path / "p.sql"), session=spark)
    with Pipeline(compiled, spark=spark, runner="inline") as p:
        p.insert("s", [(2**40,)])
        with pytest.raises(
            DeliveryError, match="column 'id' has 1099511627776, beyond the Avro schema's int"
        ):
            p.step()
