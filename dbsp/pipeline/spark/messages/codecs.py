"""What decodes and encodes a table's messages of bytes, as its options say; in Spark's Python workers.

    avro       `schema`: of the messages, as JSON or a file beside the program; where a registry has those of
               the messages, what says defaults and other names of the columns, or is registered of a target
    protobuf   `message` and `descriptor`, a FileDescriptorSet in a file beside the program

A target's schema is registered as the newest of `<topic>-value` or `<topic>-key`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from dbsp.circuits.errors import Error, ProgramError
from dbsp.pipeline.spark.messages.options import VALUE, format_options
from dbsp.rows.avro.derived import envelope_schema, schema_of
from dbsp.rows.avro.reading.decoder import Avro
from dbsp.rows.avro.reading.framed import Framed, framed
from dbsp.rows.avro.writing.encoder import Written
from dbsp.rows.binary import Decoder
from dbsp.rows.changelogs import AFTER, BEFORE, ENVELOPE_OP
from dbsp.rows.protobuf import Protobuf
from dbsp.rows.registry import Registry
from dbsp.sql.plans.program import DEBEZIUM, Table
from dbsp.sql.plans.schemas import Field


class Encoder(Protocol):
    """Of rows."""

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """BINARY, NULL for NULL. Raises DataError for a row that the format can't hold."""


def decoder(table: Table, part: str, form: str, fields: Sequence[Field]) -> Decoder:
    """Of values or keys. Raises ProgramError for its options."""
    columns = pa.struct([(field.name, field.type) for field in fields])
    try:
        if form == "protobuf":
            return _protobuf(table, part, columns)
        schema = _schema(table, part)
        if table.schema_registry is not None:
            return Framed(Registry(table.schema_registry), columns, schema)
        assert schema is not None
        return Avro(schema, columns)
    except (Error, OSError, UnicodeDecodeError) as error:
        raise ProgramError(f"{table.location}: table '{table.name}': {error}") from error


def encoder(table: Table, part: str, form: str, fields: Sequence[Field], registers: bool = True) -> Encoder:
    """Of values or keys; of Debezium's values envelopes. registers: the schema, where a registry is named.

    Raises ProgramError for its options, and Error where the registry doesn't take the schema.
    """
    columns = pa.struct([pa.field(f.name, f.type, _can_be_null(table, f)) for f in fields])
    is_envelope = part == VALUE and table.changelog == DEBEZIUM
    schema = ""
    try:
        if form == "protobuf":
            protobuf = _protobuf(table, part, columns)
            protobuf.check_written()
            return protobuf
        given = _schema(table, part)
        topic = table.option("topic")
        if is_envelope:
            schema = given or envelope_schema(columns, topic)
            columns = _envelope(columns)
        else:
            schema = given or schema_of(columns, topic, part.capitalize())
        encoding = Written(schema, columns)
    except (Error, OSError, UnicodeDecodeError) as error:
        raise ProgramError(f"{table.location}: table '{table.name}': {error}") from error
    if table.schema_registry is None or not registers:
        return encoding
    number = _registered(Registry(table.schema_registry), f"{topic}-{part}", schema)
    return Written(schema, columns, framed(number))


@lru_cache(maxsize=1024)
def _registered(registry: Registry, subject: str, schema: str) -> int:
    return registry.register(subject, schema)


def _can_be_null(table: Table, field: Field) -> bool:
    """In an envelope of a deletion only the key has values."""
    if field.name in table.primary_key:
        return False
    return field.nullable or (table.changelog == DEBEZIUM and bool(table.primary_key))


def _envelope(columns: pa.StructType) -> pa.StructType:
    row = [pa.field(BEFORE, columns), pa.field(AFTER, columns)]
    return pa.struct([*row, pa.field(ENVELOPE_OP, pa.string(), False)])


def _protobuf(table: Table, part: str, columns: pa.StructType) -> Protobuf:
    options = _options(table, part)
    return Protobuf(_file(table, options["descriptor"]), options["message"], columns)


def _schema(table: Table, part: str) -> str | None:
    given = _options(table, part).get("schema")
    if given is None:
        return None
    return given if given.lstrip().startswith("{") else _file(table, given).decode()


def _options(table: Table, part: str) -> dict[str, str]:
    return {name.lower(): text for name, text in format_options(table, part, {}).items()}


def _file(table: Table, path: str) -> bytes:
    """Beside the program, where it isn't absolute."""
    return (Path(table.location.rsplit(":", 2)[0]).parent / path).read_bytes()
