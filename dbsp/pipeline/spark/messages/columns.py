"""Records of a view's changes as messages, by columns: what `dbsp.pipeline.spark.messages.encoding` makes of
them by Spark.

    of(r) = encoded(r)    of tables that `has_columns`

CSV, INTERVALs and options of the formats are Spark's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.functions.json.to_json import is_written, json_texts
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.pipeline.spark.messages.codecs import Encoder, encoder
from dbsp.pipeline.spark.messages.encoding import key_columns
from dbsp.pipeline.spark.messages.options import KEY, VALUE, format_options, whole_options
from dbsp.rows.changelogs import AFTER, BEFORE, CHANGED, CREATED, ENVELOPE_OP, REMOVED
from dbsp.sql.compiler.sources.messages import BINARY, HEADERS, value_columns
from dbsp.sql.plans.program import DEBEZIUM, DELETED, OP, STEP, UPDATED, Table
from dbsp.sql.plans.schemas import Field

# a message's key, value and headers
Message: TypeAlias = tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]


def has_columns(table: Table) -> bool:
    """Whether its messages are encoded so."""
    fields = value_columns(table.schema, table.primary_key, table.value_format)
    parts = [(VALUE, table.value_format, fields)]
    if table.primary_key:
        parts.append((KEY, table.key_format, key_columns(table)))
    for part, form, own in parts:
        if form in ("json", "raw") and format_options(table, part, {}):
            return False
        if form == "json" and not all(is_written(field.type) for field in own):
            return False
        if form not in ("json", "raw", *BINARY):
            return False
    return True


@dataclass(frozen=True)
class MessageColumns:
    """Of a table that `has_columns`. timezone: in which instants are spelled. is_upsert: of the records."""

    table: Table
    timezone: str
    is_upsert: bool

    def of(self, records: pa.RecordBatch, step: int) -> Iterator[Message]:
        """Messages of a step's records, which have the target's columns and `__op`."""
        by_name = {name.lower(): records.column(i) for i, name in enumerate(records.schema.names)}
        ops = by_name[OP]
        values = self._values(records, ops).to_pylist()
        keys = self._keys(records).to_pylist() if self.table.primary_key else [None] * len(values)
        yield from zip(keys, values, self._headers(ops, by_name.get(WEIGHT), step), strict=True)

    def _values(self, records: pa.RecordBatch, ops: pa.Array) -> pa.Array:
        """BINARY; NULL of a deletion."""
        gone = pc.equal(ops, DELETED)
        if self.table.changelog == DEBEZIUM:
            return self._encoded(VALUE, self._envelopes(records, ops, gone))
        if self.table.value_format == "raw":
            (field,) = self._fields
            made = records.column(records.schema.names.index(field.name)).cast(pa.binary())
        else:
            rows = _rows(records, self._fields)
            # of what is gone only the key has values, which needn't make a row
            return self._encoded(VALUE, _where(rows, pc.invert(gone)) if self.is_upsert else rows)
        return pc.if_else(gone, pa.scalar(None, made.type), made) if self.is_upsert else made

    def _keys(self, records: pa.RecordBatch) -> pa.Array:
        fields = key_columns(self.table)
        if self.table.key_format == "raw":
            return records.column(records.schema.names.index(fields[0].name)).cast(pa.binary())
        return self._encoded(KEY, _rows(records, fields))

    def _envelopes(self, records: pa.RecordBatch, ops: pa.Array, gone: pa.Array) -> pa.StructArray:
        row, is_there = _rows(records, self._fields), pc.invert(gone)
        words = pc.if_else(gone, REMOVED, pc.if_else(pc.equal(ops, UPDATED), CHANGED, CREATED))
        before, after = (_where(row, mask) for mask in (gone, is_there))
        return pa.StructArray.from_arrays([before, after, words], [BEFORE, AFTER, ENVELOPE_OP])

    def _encoded(self, part: str, rows: pa.StructArray) -> pa.Array:
        form = self.table.value_format if part == VALUE else self.table.key_format
        if form in BINARY:
            return (self._value_encoder if part == VALUE else self._key_encoder).encode(rows)
        options = {**whole_options("json"), "ignoreNullFields": "false"}
        return json_texts(rows, self.timezone, options).cast(pa.binary())

    def _headers(
        self, ops: pa.Array, weights: pa.Array | None, step: int
    ) -> Iterator[list[tuple[str, bytes]]]:
        said = [(HEADERS[STEP], str(step).encode())]
        of_op = {op: [(HEADERS[OP], op.encode()), *said] for op in ops.unique().to_pylist()}
        if weights is None:
            return map(of_op.__getitem__, ops.to_pylist())
        texts = weights.cast(pa.string()).cast(pa.binary()).to_pylist()
        return (
            [*of_op[op], (HEADERS[WEIGHT], text)] for op, text in zip(ops.to_pylist(), texts, strict=True)
        )

    @cached_property
    def _fields(self) -> Sequence[Field]:
        return value_columns(self.table.schema, self.table.primary_key, self.table.value_format)

    @cached_property
    def _value_encoder(self) -> Encoder:
        return encoder(self.table, VALUE, str(self.table.value_format), self._fields)

    @cached_property
    def _key_encoder(self) -> Encoder:
        return encoder(self.table, KEY, str(self.table.key_format), key_columns(self.table))


def _rows(records: pa.RecordBatch, fields: Sequence[Field]) -> pa.StructArray:
    columns = [records.column(records.schema.names.index(field.name)) for field in fields]
    return pa.StructArray.from_arrays(columns, [field.name for field in fields])


def _where(rows: pa.StructArray, mask: pa.Array) -> pa.StructArray:
    """NULL where it isn't so."""
    return pa.StructArray.from_arrays(rows.flatten(), fields=[*rows.type], mask=pc.invert(mask))
