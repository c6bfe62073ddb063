"""USING kafka ... WITH (format = '...', key_format = '...'): rows as the values of messages.

    json   an object of the columns
    csv    a line of them
    avro, protobuf   fields of a record, by name; schema_registry = '...' has the schemas of Avro
    raw    the one column, STRING or BINARY; as a value the one beside the PRIMARY KEY

With changelog = 'debezium' the value is an envelope of rows, as JSON or Avro. The key of a message is made of
the PRIMARY KEY's columns alike. What a record did and in which step are its headers `op`, `weight` and
`step`, in a source and in a target; of a source with PRIMARY KEY a message without a value is the deletion of
its key. A source's columns of the names below say where a message came from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.variants.type import VARIANT
from dbsp.circuits.errors import ProgramError
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.sql.plans.program import DEBEZIUM, ENVELOPES, MAXWELL, OP, STEP
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.types import type_name
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.create_table import CreateTable

# Formats of bytes, and what their options must say of the value, or of the key, where no registry does.
BINARY: dict[str, tuple[str, ...]] = {"avro": ("schema",), "protobuf": ("message", "descriptor")}
_TEXTS = (pa.string(), pa.binary())
_ENVELOPES = {DEBEZIUM: ("json", "avro"), MAXWELL: ("json",)}
_AVRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
TIMESTAMP = "_timestamp"
METADATA: dict[str, tuple[pa.DataType, ...]] = {
    "_topic": (pa.string(),),
    "_partition": (pa.int32(),),
    "_offset": (pa.int64(),),
    TIMESTAMP: (pa.timestamp("us", tz="UTC"),),
    "_key": _TEXTS,
}
# Columns that are headers, and not in a value.
HEADERS = {OP: "op", WEIGHT: "weight", STEP: "step"}


def value_columns(
    fields: Sequence[Field], primary_key: Sequence[str], value_format: str | None
) -> list[Field]:
    """Those that are in the value of a message."""
    beside: set[str] = {*METADATA, *HEADERS}
    if value_format == "raw":
        beside |= {name.lower() for name in primary_key}
    return [field for field in fields if field.name.lower() not in beside]


def check_messages(source: Source, statement: CreateTable, fields: Sequence[Field], is_written: bool) -> None:
    """Raises ProgramError where messages can't be made of these columns, or read as them."""
    _Messages(source, statement, fields, is_written).check()


class _Messages:
    def __init__(
        self, source: Source, statement: CreateTable, fields: Sequence[Field], is_written: bool
    ) -> None:
        self.source, self.statement, self.fields, self.is_written = source, statement, fields, is_written

    def check(self) -> None:
        name, value, key = self.statement.name, self.statement.value_format, self.statement.key_format
        form = (self.statement.format or "").lower()
        registry = self.statement.schema_registry
        if registry is not None and "avro" not in (value, key):
            raise self.fail(
                f"schema_registry of '{name}' is of messages WITH (format = 'avro'); leave it out"
            )
        if registry is not None and urlsplit(registry).scheme not in ("http", "https"):
            raise self.fail(f"schema_registry of '{name}' is 'http://host:8081', or https")
        if self.statement.delivery is not None and (value is None or not self.is_written):
            raise self.fail(
                f"delivery of '{name}' is of messages that are written, WITH (format = 'json') or another; "
                "what other sinks promise is said by dbsp check"
            )
        if value is None and key is None:
            return
        if form != "kafka":
            raise self.fail(f"format of '{name}' is that of messages, which are USING kafka; leave it out")
        if value is None:
            raise self.fail(f"key_format of '{name}' needs WITH (format = 'json'), or of another value")
        if self.is_written and "topic" not in map(str.lower, self.statement.options):
            raise self.fail(f"nothing says to which topic '{name}' is written; give OPTIONS (topic '...')")
        for i in range(len(self.fields)):
            self.check_metadata(i)
        changelog = self.statement.changelog or ""
        held = _ENVELOPES.get(changelog)
        if held is not None and value not in held:
            listed = " or ".join(map(repr, held))
            raise self.fail(f"'{name}' has envelopes of {changelog}, which are WITH (format = {listed})")
        columns = value_columns(self.fields, self.statement.primary_key, value)
        if not columns:
            raise self.fail(f"'{name}' has no column that is in the value of a message; declare one")
        self.check_format("format", value, columns)
        keys = {each.lower() for each in self.statement.primary_key}
        parts = [field for field in self.fields if field.name.lower() in keys]
        if parts:
            self.check_format("key_format", key or value, parts)
        elif key is not None:
            raise self.fail(f"key_format of '{name}' is of the PRIMARY KEY's columns; declare one")

    def check_metadata(self, i: int) -> None:
        field = self.fields[i]
        types = METADATA.get(field.name.lower())
        what = f"column '{field.name}' of '{self.statement.name}'"
        if types is None:
            return
        if self.is_written:
            raise self.fail(f"{what} is what Kafka says of a message that is read; leave it out", i)
        if self.statement.changelog in ENVELOPES:
            raise self.fail(
                f"{what} is nothing that an envelope of {self.statement.changelog} has; leave it out", i
            )
        if field.type not in types:
            wanted = " or ".join(type_name(each) for each in types)
            raise self.fail(f"{what} is {field.type_name}, kafka gives {wanted}; declare it so", i)

    def check_format(self, which: str, form: str, columns: Sequence[Field]) -> None:
        listed = ", ".join(column.name for column in columns)
        what = f"{which} = '{form}' of '{self.statement.name}'"
        if form == "raw" and (len(columns) != 1 or columns[0].type not in _TEXTS):
            raise self.fail(f"{what} is of one column, STRING or BINARY, not of: {listed}; take json")
        part = "value" if which == "format" else "key"
        in_registry = form == "avro" and self.statement.schema_registry is not None
        for option in BINARY.get(form, ()) if not in_registry else ():
            if f"{part}.{option}" not in map(str.lower, self.statement.options):
                other = ", or WITH (schema_registry = 'http://...')" if form == "avro" else ""
                raise self.fail(f"{what} needs OPTIONS (`{part}.{option}` '...'){other}")
        if form in BINARY:
            self.check_binary(what, form, columns)
        for column in columns:
            if form == "csv" and (pt.is_nested(column.type) or pt.is_binary(column.type)):
                i = self.fields.index(column)
                message = f"{what} has no values of {column.type_name}, as '{column.name}' is; take json"
                raise self.fail(message, i)

    def check_binary(self, what: str, form: str, columns: Sequence[Field]) -> None:
        for column in columns:
            why = _not_binary(column.type, form)
            if form == "avro" and not _AVRO_NAME.fullmatch(column.name):
                why = "no such names, which have letters, digits and _ only; give it another"
            if why is not None:
                i = self.fields.index(column)
                raise self.fail(f"{what}: column '{column.name}': {form} has {why}", i)

    def fail(self, message: str, column: int | None = None) -> ProgramError:
        place = self.statement.start if column is None else self.statement.columns[column].start
        return self.source.error(place, message)


def _not_binary(type_: pa.DataType, form: str) -> str | None:
    """What of a type a format of bytes hasn't; None: nothing."""
    if type_ == VARIANT:
        return "no values of VARIANT; declare STRING, and give to_json(...) or use parse_json"
    if pt.is_duration(type_) or (pt.is_time(type_) and form != "avro"):
        return f"no values of {type_name(type_)}; declare BIGINT, or INT, and CAST it"
    if pt.is_map(type_) and form == "avro" and not pt.is_string(type_.key_type):
        return "maps by STRING only; declare MAP<STRING, ...>"
    inside = range(type_.num_fields) if pt.is_nested(type_) else ()
    return next((why for i in inside if (why := _not_binary(type_.field(i).type, form))), None)
