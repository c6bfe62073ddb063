"""Avro messages of one schema as Arrow columns.

The data of a container file's block are records without anything between them. So the messages of a batch are
one block, which `fastavro` reads in C. Within the block each message is followed by a mark, drawn at random
for the batch: where one is not as long as its record, the mark behind it isn't there.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass
from decimal import DecimalException
from struct import error as CutOff
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.errors import DataError, Error

_MARK = 16
_BROKEN = (ValueError, TypeError, EOFError, IndexError, KeyError, OverflowError, DecimalException, CutOff)


@dataclass(frozen=True)
class Avro:
    """schema: of the records, as JSON. columns: a struct of fields of them, by name.

    Raises Error for a schema of no record, or one without a column.
    """

    schema: str
    columns: pa.StructType

    def __post_init__(self) -> None:
        try:
            import fastavro  # noqa: PLC0415 — an extra
        except ImportError:
            raise Error("format = 'avro' needs fastavro: pip install 'dbsp[avro]'") from None
        try:
            record: Any = fastavro.parse_schema(json.loads(self.schema))
        except (ValueError, fastavro.schema.SchemaParseException, fastavro.schema.UnknownType) as error:
            raise Error(f"the Avro schema can't be read: {error}") from error
        if not isinstance(record, dict) or record["type"] != "record":
            raise Error("the Avro schema is of no record; columns are the fields of one")
        _check_fields(self.columns, record, {}, "")

    def decode(self, values: pa.Array) -> pa.StructArray:
        """values: BINARY, none NULL. Raises DataError where one is no record, or not of the columns."""
        import fastavro  # noqa: PLC0415 — an extra

        mark = os.urandom(_MARK)
        try:
            rows = list(fastavro.reader(self._container(values, mark)))
            marked = pa.array(rows, pa.struct([("value", self.columns), ("mark", pa.binary(_MARK))]))
        except _BROKEN as error:
            raise DataError(f"no record of the Avro schema: {error}") from error
        marks = marked.field("mark").cast(pa.binary())
        if len(marked) != len(values) or not pc.all(pc.equal(marks, mark), min_count=0).as_py():
            raise DataError("no record of the Avro schema: it has bytes too many or too few")
        return marked.field("value")

    def _container(self, values: pa.Array, mark: bytes) -> io.BytesIO:
        fixed = {"type": "fixed", "name": "dbsp_mark", "size": _MARK}
        fields = [
            {"name": "value", "type": _without_uuid(json.loads(self.schema))},
            {"name": "mark", "type": fixed},
        ]
        schema = json.dumps({"type": "record", "name": "dbsp_message", "fields": fields}).encode()
        wide = pa.large_binary()  # the marks may take it past two gigabytes
        ends = (pa.scalar(mark, wide), pa.scalar(b"", wide))
        block = pc.binary_join_element_wise(values.cast(wide), *ends).buffers()[2]
        size = 0 if block is None else block.size
        head = b"Obj\x01" + _long(1) + _bytes(b"avro.schema") + _bytes(schema) + _long(0)
        parts = (head, mark, _long(len(values)), _long(size), block or b"", mark)
        return io.BytesIO(b"".join(parts))


def _check_fields(data_type: pa.DataType, schema: Any, named: dict[str, Any], before: str) -> None:
    """Raises Error where a struct has a field that the schema's record hasn't. named: types met so far."""
    if isinstance(schema, list):
        others = [one for one in schema if one != "null"]
        schema = others[0] if len(others) == 1 else None
    schema = named.get(schema, schema) if isinstance(schema, str) else schema
    if not isinstance(schema, dict):
        return
    if "name" in schema:
        named[schema["name"]] = schema
    if schema["type"] == "record" and pt.is_struct(data_type):
        there = {field["name"]: field["type"] for field in schema["fields"]}
        for name, inside in there.items():  # in their order, so that a name is known where it is used again
            wanted = data_type.field(name).type if name in data_type.names else pa.null()
            _check_fields(wanted, inside, named, f"{before}{name}.")
        for name in data_type.names:
            if name not in there:
                raise Error(f"the Avro schema has no field '{before}{name}'; fields: {', '.join(there)}")
    elif schema["type"] == "array":
        inside = data_type.value_type if pt.is_list(data_type) else pa.null()
        _check_fields(inside, schema["items"], named, before)
    elif schema["type"] == "map":
        inside = data_type.item_type if pt.is_map(data_type) else pa.null()
        _check_fields(inside, schema["values"], named, before)
    elif not isinstance(schema["type"], str) or schema["type"] in named:
        _check_fields(data_type, schema["type"], named, before)


def _without_uuid(schema: Any) -> Any:
    """A uuid is the text that it is written as."""
    if isinstance(schema, list):
        return [_without_uuid(each) for each in schema]
    if isinstance(schema, dict):
        return {
            name: each if name in ("default", "symbols", "aliases") else _without_uuid(each)
            for name, each in schema.items()
            if (name, each) != ("logicalType", "uuid")
        }
    return schema


def _long(number: int) -> bytes:
    """A number from 0, as Avro writes it: zigzag, seven bits a byte."""
    number, parts = number << 1, bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _bytes(data: bytes) -> bytes:
    return _long(len(data)) + data
