"""The foreign oracles: what every view holds, recomputed from the tables by DuckDB or by Spark SQL."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pyarrow as pa

from dbsp.circuits.columns.months import batch_to_calendar
from dbsp.running.spark.intervals import to_frame, with_integers
from tests.generators.programs import Program, Table, View
from tests.generators.python_functions import SCALARS, without_aggregates
from tests.generators.strategies import Row
from tests.generators.values import ARROW

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


def arrow_rows(table: Table, rows: Iterable[Row]) -> pa.Table:
    """Rows of a table as anybody hands them over, of its declared types."""
    return pa.Table.from_batches([batch_to_calendar(declared(table, rows))])


def declared(table: Table, rows: Iterable[Row]) -> pa.RecordBatch:
    """Rows of a table as the engine has them."""
    schema = pa.schema([pa.field(c.name, ARROW[c.type]) for c in table.columns])
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


class DuckDB:
    """One database in memory; every call starts from nothing."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute(_WINDOW_STARTS)
        for name, (arguments, result, run) in SCALARS.items():
            self.connection.create_function(name, run, arguments, result, null_handling="special")  # type: ignore[arg-type]

    def views(self, program: Program, contents: Mapping[str, Sequence[Row]]) -> dict[str, list[Row]]:
        """Rows of every view that is an output."""
        for table in program.tables:
            self.connection.register("loaded", _naive(arrow_rows(table, contents[table.name])))
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {table.name} AS SELECT * FROM loaded")
            self.connection.unregister("loaded")
        for view in program.views:
            assert view.duckdb is not None, f"{view.name} has no DuckDB spelling"
            query = without_aggregates(view.duckdb)
            for spark, there in _TYPES.items():
                query = query.replace(spark, there)
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {view.name} AS {query}")
        return {name: self._rows(name) for name in program.outputs}

    def _rows(self, name: str) -> list[Row]:
        return [normal(row) for row in self.connection.execute(f"SELECT * FROM {name}").fetchall()]


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
            frame = to_frame(self.session, declared(table, contents[table.name]))
            frame.createOrReplaceTempView(table.name)
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
        return arrow_values(with_integers(self.session.table(name)).toArrow())


def arrow_values(table: pa.Table | pa.RecordBatch) -> list[Row]:
    """Rows as plain values, by position: column names may repeat."""
    return [normal(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]


def _naive(table: pa.Table) -> pa.Table:
    """Timestamps without their zone: DuckDB then reads and prints them as UTC."""
    for i, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz:
            table = table.set_column(i, field.name, table.column(i).cast(pa.timestamp("us")))
    return table


def normal(value: Any) -> Any:
    """One spelling of a value, whoever computed it."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, pa.MonthDayNano):
        return value.months
    if isinstance(value, timedelta):  # the months of an interval of DuckDB's
        return value.days // 30
    if isinstance(value, dict):
        return tuple(normal(item) for item in value.values())
    if isinstance(value, list | tuple):
        return tuple(normal(item) for item in value)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    return value


def same_rows(mine: Iterable[Row], theirs: Iterable[Row]) -> str | None:
    """None where both are the same bag, doubles up to 1e-9 relatively; else what is where."""
    buckets: dict[Row, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((mine, theirs)):
        for row in rows:
            buckets[tuple(map(_exact, row))][side].append(row)
    missing, surplus = [], []
    for ours, others in buckets.values():
        left = list(others)
        for row in ours:
            match = next((i for i, other in enumerate(left) if _close(row, other)), None)
            if match is None:
                surplus.append(row)
            else:
                left.pop(match)
        missing += left
    if not missing and not surplus:
        return None
    return f"missing {missing}, surplus {surplus}"


def _exact(value: Any) -> Any:
    """What must agree exactly; 2 and Decimal('2.00') do, 2 and 2.0 or True don't."""
    if isinstance(value, float):
        return "a double"
    if isinstance(value, tuple):
        return tuple(
            "NaN" if isinstance(item, float) and math.isnan(item) else _nested(item) for item in value
        )
    return ("boolean", value) if isinstance(value, bool) else value


def _nested(value: Any) -> Any:
    """Doubles inside arrays and structs come from columns: they agree exactly."""
    return value if isinstance(value, float) else _exact(value)


def _close(a: Row, b: Row) -> bool:
    """Whether the doubles of two rows are the same, but for rounding."""
    doubles = [(x, y) for x, y in zip(a, b, strict=True) if isinstance(x, float)]
    return all(
        math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(x) and math.isnan(y))
        for x, y in doubles
    )
