"""Rows as DataFrames of Spark's, and back, where Arrow has no type for a column, or Spark's way loses it.

INTERVAL YEAR TO MONTH   a number of months on the way, and INTERVAL text: see `intervals.py`
VARIANT                  a plain struct on the way: neither `createDataFrame` nor `toArrow` holds a NULL in
                         Spark's own
STRUCT<... NOT NULL>     nullable fields on the way: `toArrow` has no NULL where a field is none
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbsp.circuits.columns.forms.calendar_intervals import holds_calendar
from dbsp.circuits.columns.forms.outside import (
    from_outside,
    outside_type,
    to_outside,
    to_spark,
    without_months,
)
from dbsp.circuits.columns.variants.type import OUTSIDE, PLAIN, holds_variant
from dbsp.running.spark.intervals import columns_ddl, kind_of, quoted, with_integers, with_intervals
from dbsp.sql.plans.collations import column_of, kept_type
from dbsp.sql.plans.schemas import Field


def to_frame(spark: SparkSession, rows: pa.RecordBatch) -> DataFrame:
    """The rows as a DataFrame of the columns' types."""
    types = rows.schema.types
    given = _schema(rows.schema.names, types, PLAIN)
    columns = [to_spark(column) for column in rows.columns]
    # of a time without a zone it would make one of the session's
    read = from_arrow_schema(given, prefer_timestamp_ntz=True)
    frame = spark.createDataFrame(pa.table(columns, schema=given), read)
    if any(map(holds_variant, types)):
        ddl = columns_ddl(Field(name, without_months(t)) for name, t in zip(given.names, types, strict=True))
        frame = frame.mapInArrow(_As(_schema(given.names, types, OUTSIDE)), ddl)
    return with_collations(with_intervals(frame, types), map(column_of, rows.schema))


def of_rows(frame: DataFrame) -> DataFrame:
    """The frame's rows, of which a plan doesn't say what makes them. They are made when they are read."""
    made = frame._jdf.queryExecution().toRdd()
    session = frame.sparkSession
    return DataFrame(
        session._jsparkSession.internalCreateDataFrame(made, frame._jdf.schema(), False), session
    )


def with_collations(frame: DataFrame, columns: Iterable[Field]) -> DataFrame:
    """The frame, whose texts are compared as they are in the columns of these names."""
    known = {column.name: column.collated for column in columns if column.collated}
    if not known:
        return frame
    texts = (
        f"CAST({quoted(name)} AS {known[name]}) AS {quoted(name)}" if name in known else quoted(name)
        for name in frame.columns
    )
    return frame.selectExpr(*texts)


def to_arrow(frame: DataFrame) -> pa.Table:
    """The rows as `toArrow` gives them, with INT for INTERVAL YEAR TO MONTH, VARIANT as we have it, and
    INTERVAL as Arrow has it.
    """
    kinds = [kind_of(field["type"]) for field in json.loads(frame.schema.json())["fields"]]
    table = _to_arrow(_nullable(with_integers(frame)))
    if not any(map(holds_calendar, kinds)):
        return table
    columns = [
        to_outside(from_outside(column.combine_chunks(), kind)) if holds_calendar(kind) else column
        for column, kind in zip(table.columns, kinds, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def _to_arrow(frame: DataFrame) -> pa.Table:
    fields = json.loads(frame.schema.json())["fields"]
    if '"variant"' not in json.dumps([field["type"] for field in fields]):
        return frame.toArrow()
    types, names = [kept_type(field["type"]) for field in fields], frame.columns
    plain = _schema(names, types, PLAIN)
    numbered = [f"c{i}" for i in range(len(names))]  # a query's columns may have one name
    ddl = columns_ddl(map(Field, numbered, plain.types))
    table = frame.toDF(*numbered).mapInArrow(_As(_schema(numbered, types, PLAIN)), ddl).toArrow()
    columns = [
        from_outside(column.combine_chunks(), type_)
        for column, type_ in zip(table.columns, types, strict=True)
    ]
    return pa.table(columns, names=names)


def _nullable(frame: DataFrame) -> DataFrame:
    """The frame, in which each field of a struct may be NULL, as it is where the struct is."""
    types = [field.dataType for field in frame.schema.fields]
    optional = [_optional(data_type) for data_type in types]
    if optional == types:
        return frame
    numbered = [f"c{i}" for i in range(len(types))]  # a query's columns may have one name
    wide = frame.toDF(*numbered)
    columns = [wide[name].cast(data_type) for name, data_type in zip(numbered, optional, strict=True)]
    return wide.select(columns).toDF(*frame.columns)


def _optional(data_type: DataType) -> DataType:
    if isinstance(data_type, StructType):
        return StructType(
            [StructField(f.name, _optional(f.dataType), True, f.metadata) for f in data_type.fields]
        )
    if isinstance(data_type, ArrayType):
        return ArrayType(_optional(data_type.elementType), data_type.containsNull)
    if isinstance(data_type, MapType):
        key, value = _optional(data_type.keyType), _optional(data_type.valueType)
        return MapType(key, value, data_type.valueContainsNull)
    return data_type


def _schema(names: Sequence[str], types: Sequence[pa.DataType], variant: pa.DataType) -> pa.Schema:
    """As Spark has the columns. variant: what stands for VARIANT."""
    return pa.schema(
        [(name, outside_type(t, pa.int32(), variant)) for name, t in zip(names, types, strict=True)]
    )


@dataclass(frozen=True)
class _As:
    """For `mapInArrow`: the same columns under other names of types."""

    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = [c.cast(field.type) for c, field in zip(batch.columns, self.schema, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)
