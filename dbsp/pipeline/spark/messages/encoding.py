"""Records of a view's changes as messages, which Kafka's connector writes.

    append    value: the row                       op 'I'
    retract   value: the row                       op 'I' or 'D', weight where there is a column of it
    upsert    value: the key's row, or none        op 'I', 'U' or 'D'
    debezium  value: an envelope of an upsert, with no row before but the key of a deletion; or of a retract

The key is made of the PRIMARY KEY's columns, so a key's messages lie in one partition, in the order of their
steps. `op` and `step` are headers of each message: what is written again after a crash is told by key and
step. What `dbsp.pipeline.spark.decoding` reads is what was written. JSON and CSV are written by the JVM, and
bytes in Spark's Python workers.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import array, arrow_udf, col, lit, struct, to_csv, to_json, when

from dbsp.circuits.traces.zset import WEIGHT
from dbsp.pipeline.spark.messages.codecs import encoder
from dbsp.pipeline.spark.messages.options import KEY, VALUE, format_options, whole_options
from dbsp.rows.changelogs import AFTER, BEFORE, CHANGED, CREATED, ENVELOPE_OP, REMOVED
from dbsp.running.spark.intervals import quoted
from dbsp.sql.compiler.sources.messages import BINARY, HEADERS, value_columns
from dbsp.sql.plans.program import DEBEZIUM, DELETED, OP, STEP, UPDATED, Table
from dbsp.sql.plans.schemas import Field

# A reader that knows no table sees every column.
_USUAL = {"json": {"ignoreNullFields": "false"}}


def encoded(table: Table, records: DataFrame, step: int, is_upsert: bool) -> DataFrame:
    """Messages of a step's records, which have the target's columns and `__op`."""
    assert table.value_format is not None and table.key_format is not None
    op = col(_named(records, OP))
    fields = value_columns(table.schema, table.primary_key, table.value_format)
    if table.changelog == DEBEZIUM:
        value = _envelope(table, op, fields)
    else:
        value = _encoded(table, VALUE, table.value_format, fields, op != DELETED if is_upsert else None)
    headers = {OP: op, STEP: lit(str(step))}
    if any(field.name.lower() == WEIGHT for field in table.schema):
        headers[WEIGHT] = col(_named(records, WEIGHT)).cast("string")
    given = [
        struct(lit(HEADERS[n]).alias("key"), v.cast("binary").alias("value")) for n, v in headers.items()
    ]
    messages = [value.alias("value"), array(*given).alias("headers")]
    if table.primary_key:
        keys = key_columns(table)
        messages.append(_encoded(table, KEY, table.key_format, keys).alias("key"))
    return records.select(*messages)


def check_encoding(table: Table) -> None:
    """Raises ProgramError where the formats can't hold the columns."""
    fields = value_columns(table.schema, table.primary_key, table.value_format)
    for part, form, own in ((VALUE, table.value_format, fields), (KEY, table.key_format, key_columns(table))):
        if form in BINARY and own:
            encoder(table, part, form, own, registers=False)


def key_columns(table: Table) -> list[Field]:
    """Of a message's key, in the order of the PRIMARY KEY."""
    by_name = {field.name: field for field in table.schema}
    return [by_name[name] for name in table.primary_key]


def _envelope(table: Table, op: Column, fields: Sequence[Field]) -> Column:
    row, gone = struct(*(col(quoted(field.name)) for field in fields)), op == DELETED
    word = when(gone, REMOVED).when(op == UPDATED, CHANGED).otherwise(CREATED)
    envelope = struct(when(gone, row).alias(BEFORE), when(~gone, row).alias(AFTER), word.alias(ENVELOPE_OP))
    if table.value_format in BINARY:
        return _bytes(table, VALUE, table.value_format, fields, envelope)
    options = format_options(table, VALUE, {**whole_options("json"), **_USUAL["json"]})
    return to_json(envelope, options)


def _encoded(
    table: Table, part: str, form: str, fields: Sequence[Field], is_there: Column | None = None
) -> Column:
    """NULL where it isn't there."""
    names = [field.name for field in fields]
    row = struct(*(col(quoted(name)) for name in names))
    if form in BINARY:
        return _bytes(table, part, form, fields, row if is_there is None else when(is_there, row))
    if form == "raw":
        value = col(quoted(*names))
    else:
        options = format_options(table, part, {**whole_options(form), **_USUAL.get(form, {})})
        value = to_json(row, options) if form == "json" else to_csv(row, options)
    return value if is_there is None else when(is_there, value)


def _bytes(table: Table, part: str, form: str, fields: Sequence[Field], rows: Column) -> Column:
    encoding = encoder(table, part, form, fields)

    def encode(values: pa.Array) -> pa.Array:
        return encoding.encode(values)

    return arrow_udf(encode, "binary")(rows)


def _named(records: DataFrame, name: str) -> str:
    return next(quoted(column) for column in records.columns if column.lower() == name)
