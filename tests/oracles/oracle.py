"""The foreign oracles: what every view holds, recomputed from the tables by DuckDB or by Spark SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import duckdb
import pyarrow as pa

from dbsp.circuits.columns.forms.outside import batch_to_outside
from dbsp.running.spark.frames import to_arrow, to_frame
from dbsp.sql.plans.collations import arrow_field
from dbsp.sql.plans.schemas import Field
from dbsp.testing.bags import arrow_values, normal
from tests.generators.programs import Column, Program, Table, Upsert, View
from tests.generators.python_functions import SCALARS, without_aggregates
from tests.generators.strategies import Row
from tests.generators.values import ARROW, COLLATED

_TYPES = {
    "ARRAY<INT>": "INT[]",
    "STRUCT<x: INT, y: STRING>": "STRUCT(x INT, y VARCHAR)",
    "TIMESTAMP_NTZ": "TIMESTAMP",
    "BINARY": "BLOB",
    "INTERVAL YEAR TO MONTH": "INTERVAL",
}

# starts of the windows [start, start + len) that hold t, start = k·slide + shift; all in minutes
_WINDOW_STARTS = """
CREATE MACRO minutes(n) AS n * 60000000::BIGINT;
CREATE MACRO window_starts(t, len, slide, shift) AS
  CASE WHEN t IS NULL THEN []::TIMESTAMP[] ELSE list_transform(
    range(0, len, slide),
    lambda back: make_timestamp(minutes(
      CAST(floor((epoch_us(t) - minutes(shift)) / minutes(slide)) AS BIGINT) * slide + shift - back)))
  END
"""
# DuckDB's own is NULL of no row
_COUNT_IF = "CREATE MACRO count_if(test) AS count(*) FILTER (WHERE test)"


def arrow_rows(table: Table, rows: Iterable[Row]) -> pa.Table:
    """Rows of a table as anybody hands them over, of its declared types."""
    return pa.Table.from_batches([batch_to_outside(declared(table, rows))])


def declared(table: Table, rows: Iterable[Row]) -> pa.RecordBatch:
    """Rows of a table as the engine has them."""
    schema = pa.schema([_field(c) for c in table.columns])
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _field(c: Column) -> pa.Field:
    if c.type in COLLATED:
        return arrow_field(Field(c.name, COLLATED[c.type], collated=c.type))
    return pa.field(c.name, ARROW[c.type])


class DuckDB:
    """One database in memory; every call starts from nothing."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute(_WINDOW_STARTS)
        self.connection.execute(_COUNT_IF)
        for name, (arguments, result, run) in SCALARS.items():
            self.connection.create_function(name, run, arguments, result, null_handling="special")  # type: ignore[arg-type]

    def views(self, program: Program, contents: Mapping[str, Sequence[Row]]) -> dict[str, list[Row]]:
        """Rows of every view that is an output."""
        for table in program.tables:
            self.connection.register("loaded", _naive(arrow_rows(table.held, contents[table.name])))
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {table.name} AS SELECT * FROM loaded")
            self.connection.unregister("loaded")
        for view in program.views:
            assert view.duckdb is not None, f"{view.name} has no DuckDB spelling"
            query = without_aggregates(view.duckdb)
            for spark, there in _TYPES.items():
                query = query.replace(spark, there)
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {view.name} AS {query}")
        return {name: self._rows(name) for name in program.outputs}

    def upserted(self, upserts: Sequence[Upsert]) -> dict[str, list[Row]]:
        """Rows of their targets, of the tables of the last call: one row after the other goes in."""
        for upsert in upserts:
            self.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {upsert.target} (g BIGINT PRIMARY KEY, x BIGINT)"
            )
            for row in self.connection.execute(upsert.duckdb).fetchall():
                self.connection.execute(f"INSERT OR REPLACE INTO {upsert.target} VALUES (?, ?)", row)
        return {upsert.target: self._rows(upsert.target) for upsert in upserts}

    def _rows(self, name: str) -> list[Row]:
        rows = self.connection.execute(f"SELECT * FROM {name}").fetchall()
        return [normal(_with_months(row)) for row in rows]


class Spark:
    """The program's own text, view by view, over the tables as DataFrames."""

    def __init__(self, session: Any) -> None:
        self.session = session
        session.conf.set("spark.sql.join.asofJoin.enabled", "true")
        for name, (_, result, run) in SCALARS.items():
            session.udf.register(name, run, "STRING" if result == "VARCHAR" else result)

    def views(self, program: Program, contents: Mapping[str, Sequence[Row]]) -> dict[str, list[Row]]:
        for table in program.tables:
            # DataFrames of Arrow tables map nested types as they are
            frame = to_frame(self.session, declared(table.held, contents[table.name]))
            frame.createOrReplaceTempView(table.name)
        for function in program.sql_functions:
            self.session.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {function}")
        for view in program.views:
            if view.recursive:
                self._fixed_point(view)
            else:
                self.session.sql(without_aggregates(view.query)).createOrReplaceTempView(view.name)
        found = {name: self._rows(name) for name in program.outputs}
        for name in [table.name for table in program.tables] + [view.name for view in program.views]:
            self.session.catalog.dropTempView(name)
        return found

    def _fixed_point(self, view: View) -> None:
        """Spark has no such views: the query of what there is, as long as it gives more."""
        rows, before = self.session.createDataFrame([], view.recursive), -1
        while rows.count() != before:
            rows.createOrReplaceTempView(view.name)
            before = rows.count()
            rows = self.session.createDataFrame(self.session.sql(view.query).distinct().toArrow())

    def _rows(self, name: str) -> list[Row]:
        return arrow_values(to_arrow(self.session.table(name)))


def _naive(table: pa.Table) -> pa.Table:
    """Timestamps without their zone: DuckDB then reads and prints them as UTC."""
    for i, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz:
            table = table.set_column(i, field.name, table.column(i).cast(pa.timestamp("us")))
    return table


def _with_months(value: Any) -> Any:
    """DuckDB's intervals, which are of months only, as their number."""
    if isinstance(value, timedelta):
        return value.days // 30
    if isinstance(value, dict):
        return {name: _with_months(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_with_months, value))
    return value
