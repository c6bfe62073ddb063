"""What a table's options make of its messages of bytes: files beside the program, and what can't be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.pipeline.spark.messages import codecs
from dbsp.pipeline.spark.messages.codecs import decoder, encoder
from dbsp.rows.avro.reading.framed import Framed
from dbsp.rows.registry import Registry
from dbsp.sql.plans.program import DEBEZIUM, Table
from dbsp.sql.plans.schemas import Field
from tests.dbsp.rows.test_protobuf import written

FIELDS = (Field("id", pa.int64(), False), Field("who", pa.string()), Field("n", pa.int64(), False))
SCHEMA = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "who", "type": ["null", "string"]},
        {"name": "n", "type": "int"},
    ],
}


def table(where: Path, options: dict[str, str] | None = None, **more: Any) -> Table:
    location, given = f"{where}/p.sql:1:14", {"topic": "a.b", **(options or {})}
    return Table("t", FIELDS, ("id",), False, False, "kafka", given, location, **more)


def test_a_schema_beside_the_program_or_in_it(tmp_path: Path) -> None:
    (tmp_path / "row.avsc").write_text(json.dumps(SCHEMA))
    rows = pa.array([{"id": 1, "who": None, "n": 2}, None], pa.struct([(f.name, f.type) for f in FIELDS]))
    for given in ("row.avsc", str(tmp_path / "row.avsc"), f" {json.dumps(SCHEMA)}"):
        of = table(tmp_path, {"Value.Schema": given})
        messages = encoder(of, "value", "avro", FIELDS).encode(rows)
        assert decoder(of, "value", "avro", FIELDS).decode(messages.drop_null())[0].to_pylist() == [
            rows[0].as_py()
        ]
        assert messages[1].as_py() is None


@pytest.mark.parametrize(
    ("options", "form", "error"),
    [
        ({"value.schema": "no.avsc"}, "avro", "p.sql:1:14: table 't': .*no.avsc"),
        ({"value.schema": "{}"}, "avro", "p.sql:1:14: table 't': the Avro schema can't be read"),
        ({"value.message": "X", "value.descriptor": "no"}, "protobuf", "p.sql:1:14: table 't': .*no'"),
        ({"value.message": "X", "value.descriptor": "d"}, "protobuf", "there is no Protobuf message 'X'"),
    ],
)
def test_what_can_t_be_read(tmp_path: Path, options: dict[str, str], form: str, error: str) -> None:
    (tmp_path / "d").write_bytes(written()[0])
    for made in (decoder, encoder):
        with pytest.raises(ProgramError, match=error):
            made(table(tmp_path, options), "value", form, FIELDS)


def test_what_is_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a value, a key and an envelope, whose deletions have NULLs beside the key."""
    asked = []

    def register(_: Registry, subject: str, text: str) -> int:
        asked.append((subject, json.loads(text)))
        return 5

    codecs._registered.cache_clear()
    monkeypatch.setattr(Registry, "register", register)
    of = table(tmp_path, schema_registry="http://h:1")
    assert isinstance(decoder(of, "value", "avro", FIELDS), Framed)
    encoder(of, "value", "avro", FIELDS, registers=False)
    assert not asked
    key = encoder(of, "key", "avro", FIELDS[:1]).encode(pa.array([{"id": 1}]))
    assert key.to_pylist() == [b"\0\0\0\0\5\2"]
    encoder(table(tmp_path, schema_registry="http://h:1", changelog=DEBEZIUM), "value", "avro", FIELDS)
    assert [(subject, schema["name"]) for subject, schema in asked] == [
        ("a.b-key", "a.b.Key"),
        ("a.b-value", "a.b.Envelope"),
    ]
    row = asked[1][1]["fields"][0]["type"][1]
    assert [field["type"] for field in row["fields"]] == ["long", ["null", "string"], ["null", "long"]]
