"""Messages as the records of a table, by columns: what `dbsp.pipeline.spark.decoding` makes of them by Spark.

    records(m) = decoded(m)    or None, where a value or a key isn't vouched for

See `dbsp.rows.json_columns` for what is. None is also a row without a value that it must have, since what is
said of that has Spark's spelling of the row in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import int64_array, validity
from dbsp.pipeline.spark.bad_rows import MARKS
from dbsp.pipeline.spark.direct.messages import Messages
from dbsp.pipeline.spark.records import ENVELOPE, OF_MESSAGES, PAYLOAD, record_columns
from dbsp.rows.json_columns import JsonColumns, can_decode
from dbsp.sql.compiler.sources.messages import HEADERS, METADATA, TIMESTAMP
from dbsp.sql.plans.program import DEBEZIUM, DELETED, MAXWELL, OP, UPDATED, Table
from dbsp.sql.plans.schemas import Field


def has_columns(table: Table, fields: Sequence[Field]) -> bool:
    """Whether there is a message of the table's that would be vouched for. fields: looked for in a value."""
    if table.value_format != "json" or table.changelog not in (None, "upsert", DEBEZIUM, MAXWELL):
        return False
    if any(field.name.lower() in HEADERS for field in table.schema):
        return False
    by_key = {*table.primary_key} if table.changelog == "upsert" else set()
    if by_key and (table.key_format != "json" or not by_key <= {field.name for field in fields}):
        return False
    return all(can_decode(field.type) for field in fields)


@dataclass(frozen=True)
class RecordColumns:
    """Of a table that `has_columns`. fields: looked for in a value. timezone: of times that have none."""

    table: Table
    fields: tuple[Field, ...]
    timezone: str

    def of(self, messages: Messages) -> pa.RecordBatch | None:
        """None: not all of them are vouched for. Without what has no value, unless that is a deletion."""
        if self.table.changelog != "upsert":
            messages = messages.with_values()
            rows = self._value.decode(messages.values)
            columns = None if rows is None else dict(zip(rows.schema.names, rows.columns, strict=True))
        else:
            columns = self._upserts(messages)
        return None if columns is None else self._records(messages, columns)

    @cached_property
    def _value(self) -> JsonColumns:
        return JsonColumns(self.fields, self.timezone)

    @cached_property
    def _key(self) -> JsonColumns:
        keys = (field for field in self.table.schema if field.name in self.table.primary_key)
        return JsonColumns(tuple(keys), self.timezone)

    def _upserts(self, messages: Messages) -> dict[str, pa.Array] | None:
        """Rows, and keys without a value, which are deletions."""
        rows = self._value.decode(messages.with_values().values)
        if rows is None:
            return None
        if rows.num_rows == len(messages):
            ops = pa.repeat(UPDATED, len(messages))
            return {**dict(zip(rows.schema.names, rows.columns, strict=True)), OP: ops}
        is_gone = ~validity(messages.values)
        gone = np.flatnonzero(is_gone)
        keys = messages.keys.filter(pa.array(is_gone))
        told = None if keys.null_count else self._key.decode(keys)
        if told is None:
            return None
        from_value, from_key = np.cumsum(~is_gone) - 1, np.cumsum(is_gone) - 1
        places = int64_array(np.where(is_gone, rows.num_rows + from_key, from_value))
        columns = {}
        for field in self.fields:
            is_key = field.name in told.schema.names
            behind = told.column(field.name) if is_key else pa.nulls(len(gone), field.type)
            columns[field.name] = pa.concat_arrays([rows.column(field.name), behind]).take(places)
        columns[OP] = pa.array(np.where(is_gone, DELETED, UPDATED), pa.string())
        return columns

    def _records(self, messages: Messages, columns: dict[str, pa.Array]) -> pa.RecordBatch | None:
        table, count = self.table, len(messages)
        if table.changelog == DEBEZIUM and not _without_schemas(columns):
            return None
        names = [field.name for field in record_columns(table) if field.name != PAYLOAD]
        types = {field.name: field.type for field in record_columns(table)}
        found = {}
        for name in names:
            if name in columns:
                found[name] = columns[name]
            elif name.lower() in METADATA:
                beside = self._metadata(messages, name.lower(), types[name])
                if beside is None:
                    return None
                found[name] = beside
            else:  # nobody reads it
                found[name] = pa.nulls(count, types[name])
        if table.changelog is None and any(found[name].null_count for name in self._required):
            return None
        found |= {name: self._metadata(messages, f"_{of}") for name, of in OF_MESSAGES.items()}
        if table.keeps_bad_rows:
            found |= {mark: pa.nulls(count, pa.string()) for mark in MARKS}
        return pa.RecordBatch.from_arrays([*found.values()], [*found])

    @cached_property
    def _required(self) -> list[str]:
        """The columns that a row has a value in."""
        needed = [f.name for f in self.table.schema if not f.nullable or f.name in self.table.primary_key]
        return [name for name in needed if name not in self.table.filled]

    def _metadata(self, messages: Messages, name: str, type_: pa.DataType | None = None) -> pa.Array | None:
        count = len(messages)
        if name == "_topic":
            return pa.repeat(messages.topic, count)
        if name == "_partition":
            return pa.repeat(pa.scalar(messages.partition, pa.int32()), count)
        if name == "_offset":
            return int64_array(messages.offsets)
        if name == TIMESTAMP:
            return messages.timestamps
        try:
            return messages.keys.cast(type_)
        except pa.ArrowInvalid:  # no UTF-8
            return None


def _without_schemas(columns: dict[str, pa.Array]) -> bool:
    """Whether the envelopes can be taken out of what has them beside schemas, if that is so of all of them.

    They are, in place.
    """
    payload = columns.pop(PAYLOAD)
    if payload.null_count == len(payload):
        return True
    if payload.null_count or any(columns[name].null_count < len(payload) for name in ENVELOPE):
        return False
    columns |= {name: pc.struct_field(payload, name) for name in ENVELOPE}
    return True
