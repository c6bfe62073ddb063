"""Records of a view's changes as messages, which Kafka's connector writes.

    append    value: the row                       op 'I'
    retract   value: the row                       op 'I' or 'D', weight where there is a column of it
    upsert    value: the key's row, or none        op 'I', 'U' or 'D'
    debezium  value: an envelope of an upsert, with no row before but the key of a deletion; or of a retract

The key is made of the PRIMARY KEY's columns, so a key's messages lie in one partition, in the order of their
steps. `op` and `step` are headers of each message: what is written again after a crash is told by key and
step. What `dbsp.pipeline.spark.decoding` reads is what was written.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import array, col, lit, struct, to_csv, to_json, when

from dbsp.circuits.traces.zset import WEIGHT
from dbsp.pipeline.spark.options import KEY, VALUE, format_options, whole_options
from dbsp.rows.changelogs import AFTER, BEFORE, CHANGED, CREATED, ENVELOPE_OP, REMOVED
from dbsp.running.spark.intervals import quoted
from dbsp.sql.compiler.sources.messages import HEADERS, value_columns
from dbsp.sql.plans.program import DEBEZIUM, DELETED, OP, STEP, UPDATED, Table

# A reader that knows no table sees every column.
_USUAL = {"json": {"ignoreNullFields": "false"}}


def encoded(table: Table, records: DataFrame, step: int, is_upsert: bool) -> DataFrame:
    """Messages of a step's records, which have the target's columns and `__op`."""
    assert table.value_format is not None and table.key_format is not None
    op = col(_named(records, OP))
    columns = [f.name for f in value_columns(table.schema, table.primary_key, table.value_format)]
    if table.changelog == DEBEZIUM:
        value = _envelope(table, op, columns)
    else:
        value = _encoded(table, VALUE, table.value_format, columns)
    if is_upsert and table.changelog != DEBEZIUM:
        value = when(op != DELETED, value)
    headers = {OP: op, STEP: lit(str(step))}
    if any(field.name.lower() == WEIGHT for field in table.schema):
        headers[WEIGHT] = col(_named(records, WEIGHT)).cast("string")
    given = [
        struct(lit(HEADERS[n]).alias("key"), v.cast("binary").alias("value")) for n, v in headers.items()
    ]
    messages = [value.alias("value"), array(*given).alias("headers")]
    if table.primary_key:
        messages.append(_encoded(table, KEY, table.key_format, table.primary_key).alias("key"))
    return records.select(*messages)


def _envelope(table: Table, op: Column, columns: Sequence[str]) -> Column:
    row, gone = struct(*(col(quoted(name)) for name in columns)), op == DELETED
    word = when(gone, REMOVED).when(op == UPDATED, CHANGED).otherwise(CREATED)
    envelope = struct(when(gone, row).alias(BEFORE), when(~gone, row).alias(AFTER), word.alias(ENVELOPE_OP))
    options = format_options(table, VALUE, {**whole_options("json"), **_USUAL["json"]})
    return to_json(envelope, options)


def _encoded(table: Table, part: str, form: str, names: Sequence[str]) -> Column:
    if form == "raw":
        (name,) = names
        return col(quoted(name))
    row = struct(*(col(quoted(name)) for name in names))
    options = format_options(table, part, {**whole_options(form), **_USUAL.get(form, {})})
    return to_json(row, options) if form == "json" else to_csv(row, options)


def _named(records: DataFrame, name: str) -> str:
    return next(quoted(column) for column in records.columns if column.lower() == name)
