"""Messages as the records of a table: what Spark reads from Kafka, decoded.

    value, key   columns, as the formats say; of an upsert a key without a value is its deletion
    headers      `__op`, `__weight`, `__step`
    the rest     `_topic`, `_partition`, `_offset`, `_timestamp`, `_key`

A message without a value is no row: such follow the deletions of others, for a topic's compaction. Of a keyed
table the records count in the order of their offsets: a key's messages are all in one partition of a topic.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import (
    arrow_udf,
    coalesce,
    col,
    format_string,
    from_csv,
    from_json,
    get,
    lit,
    struct,
    when,
)
from pyspark.sql.functions import filter as where

from dbsp.pipeline.spark.bad_rows import marks
from dbsp.pipeline.spark.messages.codecs import decoder
from dbsp.pipeline.spark.messages.options import KEY, VALUE, format_options, kafka_options, with_usual
from dbsp.pipeline.spark.records import OF_MESSAGES, decoded_fields, record_columns, with_origin
from dbsp.rows.binary import CORRUPT, WHY, decode_batch
from dbsp.running.spark.intervals import columns_ddl, quoted
from dbsp.sql.compiler.sources.messages import BINARY, HEADERS, METADATA
from dbsp.sql.plans.program import DELETED, OP, UPDATED, Table
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.types import ddl

# What can't be decoded fails, unless OPTIONS say otherwise: as a NULL it would be lost, or be a deletion.
_USUAL = {"mode": "FAILFAST"}
# A task reads offsets that are there, so no answer is worth waiting for. A consumer that has read its share
# asks for more at once, and its next task waits behind that question: half a second a step, as Kafka has it.
_PROMPT = {"kafka.fetch.max.wait.ms": "5"}
# Of a table that keeps what is no row of it.
_KEPT = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}


def reader_options(table: Table) -> dict[str, str]:
    """The options of the table that are Kafka's, and what decoding needs of it."""
    own = kafka_options(table)
    if (table.format or "").lower() == "kafka":
        own = with_usual(_PROMPT, own)
    reads_headers = any(field.name.lower() in HEADERS for field in table.records)
    return {**own, "includeHeaders": "true"} if reads_headers else own


def decoded(
    table: Table, messages: DataFrame, read: frozenset[int] | None = None, is_placed: bool = False
) -> DataFrame:
    """The table's rows, or its records with where they lie. messages: Kafka's columns.

    read: the columns that something reads; None: all. Of JSON, which has names, others aren't looked at.
    is_placed: whether rows, too, are beside where they lie.
    """
    assert table.value_format is not None
    fields = decoded_fields(table, read)
    beside = _beside(table, table.value_format)
    whole = [*fields, *(Field(name, pa.string()) for name in beside)]
    parts = [_decoded(table, VALUE, table.value_format, whole).alias("__value"), *messages.columns]
    refused = {name: [col(f"__value.{name}")] for name in beside}
    if table.changelog == "upsert":
        assert table.key_format is not None
        keys = [field for field in table.schema if field.name in table.primary_key]
        of_key = _beside(table, table.key_format) if table.key_format in BINARY else ()
        keys += [Field(name, pa.string()) for name in of_key]
        parts.append(_decoded(table, KEY, table.key_format, keys).alias("__key"))
        # beside a row a key that can't be read says nothing that the row doesn't
        is_read = col(VALUE).isNull() | lit(table.value_format == "raw")
        for name in of_key:
            refused.setdefault(name, []).append(when(is_read, col(f"__key.{name}")))
    else:
        messages = messages.where(col(VALUE).isNotNull())
    in_value = {field.name for field in fields}
    columns = [_column(table, field, in_value).alias(field.name) for field in record_columns(table)]
    if is_placed or table.keeps_bad_rows or (table.changelog is not None and table.primary_key):
        columns += [col(column).alias(name) for name, column in OF_MESSAGES.items()]
    columns += [coalesce(*of).alias(name) for name, of in refused.items()]
    frame = messages.select(*parts).select(*columns)
    kept = marks(table, frame, _place()) if table.keeps_bad_rows else []
    if table.changelog is not None:
        return with_origin(table, frame, kept)
    places = OF_MESSAGES if is_placed else ()
    return frame.select(*(quoted(field.name) for field in table.schema), *places, *kept)


def _beside(table: Table, form: str) -> tuple[str, ...]:
    """Columns that say what can't be decoded."""
    if not table.keeps_bad_rows or form == "raw":
        return ()
    return (CORRUPT, WHY) if form in BINARY else (CORRUPT,)


def _place() -> Column:
    """Where a message lies, as a person finds it."""
    topic, partition, offset = map(col, OF_MESSAGES)
    return format_string("offset %d of %s-%d", offset, topic, partition)


def _decoded(table: Table, part: str, form: str, fields: Sequence[Field]) -> Column:
    """A value or a key as a struct of the columns; NULL where it is."""
    if form == "raw":
        (field,) = fields
        return struct(col(part).cast(ddl(field.type)).alias(field.name))
    if form in BINARY:
        return _decoded_binary(table, part, form, fields)
    text, schema = col(part).cast("string"), columns_ddl(fields)
    options = format_options(table, part, _KEPT if table.keeps_bad_rows else _USUAL)
    return from_json(text, schema, options) if form == "json" else from_csv(text, lit(schema), options)


def _column(table: Table, field: Field, in_value: Set[str]) -> Column:
    """A column of the records. in_value: the names of those that `__value` has."""
    name = field.name.lower()
    value, key = (col(f"{part}.{quoted(field.name)}") for part in ("__value", "__key"))
    if field.name in in_value and table.changelog != "upsert":
        return value
    if name == OP and table.changelog == "upsert":
        return when(col(VALUE).isNull(), DELETED).otherwise(UPDATED)
    if field.name in table.primary_key and table.changelog == "upsert":
        return when(col(VALUE).isNull(), key).otherwise(value) if field.name in in_value else key
    if name in METADATA:
        return col(name[1:]).cast(ddl(field.type))
    if name in HEADERS:
        found = where(col("headers"), lambda header: header["key"] == HEADERS[name])
        return get(found, lit(0))["value"].cast("string").cast(ddl(field.type))
    # else nobody reads it
    return value if field.name in in_value else lit(None).cast(ddl(field.type))


def _decoded_binary(table: Table, part: str, form: str, fields: Sequence[Field]) -> Column:
    """A value or a key as a struct of the columns; NULL where it is. Raises ProgramError for its options."""
    own = [field for field in fields if field.name not in (CORRUPT, WHY)]
    decoding, keeps = decoder(table, part, form, own), len(own) < len(fields)

    def decode(values: pa.Array) -> pa.Array:
        return decode_batch(decoding, values, keeps)

    return arrow_udf(decode, columns_ddl(fields))(col(part).cast("binary"))
