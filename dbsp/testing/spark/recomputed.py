"""Spark SQL as the oracle: every view of a program, from scratch, over given tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import AnalysisException, PySparkException

from dbsp.rows.incoming import arrow_schema
from dbsp.running.clock import EPOCH
from dbsp.running.spark.frames import to_arrow, to_frame
from dbsp.running.spark.intervals import quoted
from dbsp.running.spark.messages import unlogged
from dbsp.sql.plans.program import Program
from dbsp.testing.spark.clock import at, ticked
from dbsp.testing.spark.queries import SparkQuery, queries_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# of a few rows: what a query costs is its tasks
_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.join.asofJoin.enabled": "true",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
}


class SparkError(Exception):
    """Spark has no rows of a view: one of its expressions fails. The message is Spark's first line."""


class Recomputed:
    """One program's views. left_out: of those that can't be computed, why."""

    def __init__(self, program: Program, session: SparkSession) -> None:
        self.program = program
        queries = queries_of(program, session)
        self.left_out = dict(queries.left_out)
        # with settings, views and functions of its own
        self._session = session.newSession()
        for name, value in (_SETTINGS | {"spark.sql.session.timeZone": program.timezone}).items():
            self._session.conf.set(name, value)
        self._define_tables({name: _empty(arrow_schema(table)) for name, table in program.inputs.items()})
        self._views: list[SparkQuery] = []
        for number, view in enumerate(queries.views):
            for after, text in queries.functions:
                if after == number:
                    self._session.sql(text)
            if self._is_known(view):
                self._views.append(view)

    @property
    def views(self) -> list[str]:
        """Those that it computes and that can be read."""
        return [view.name for view in self._views if self.program.views[view.name].kind != "local"]

    def rows(
        self, tables: Mapping[str, pa.RecordBatch], wanted: Iterable[str], clock: datetime | None = None
    ) -> dict[str, pa.Table | SparkError]:
        """Of each wanted view its rows, or why Spark has none. clock: what NOW() is."""
        with unlogged():
            return self._recomputed(tables, wanted, clock)

    def _recomputed(
        self, tables: Mapping[str, pa.RecordBatch], wanted: Iterable[str], clock: datetime | None
    ) -> dict[str, pa.Table | SparkError]:
        self._define_tables(tables)
        found: dict[str, pa.Table | SparkError] = {}
        for view in self._views:
            try:
                self._define(view, clock)
            except PySparkException as error:  # of one that is recursive, or reads such a one
                found[view.name] = _said(error)
        return {name: found.get(name) or self._rows(name) for name in wanted}

    def _is_known(self, view: SparkQuery) -> bool:
        """Whether Spark's analyser takes it, as it stands here."""
        try:
            self._define(view, EPOCH if self.program.circuit.is_timed else None)
        except AnalysisException as error:
            self.left_out[view.name] = f"Spark refuses it: {_said(error)}"
            return False
        return True

    def _define_tables(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        for name, rows in tables.items():
            to_frame(self._session, rows).createOrReplaceTempView(quoted(name))

    def _define(self, view: SparkQuery, clock: datetime | None) -> None:
        tick = self.program.views[view.name].tick
        text = view.text if clock is None else at(view.text, ticked(clock, tick), self.program.timezone)
        if view.schema:
            self._fixed_point(view, text)
            return
        rows = self._session.sql(text)
        rows = rows.toDF(*view.columns) if view.columns else rows
        rows.createOrReplaceTempView(quoted(view.name))

    def _fixed_point(self, view: SparkQuery, text: str) -> None:
        """Spark has no such views: the query of what there is, as long as it gives more."""
        rows = self._session.createDataFrame([], view.schema)
        before, count = -1, 0
        while count != before:
            rows.createOrReplaceTempView(quoted(view.name))
            rows = self._stored(self._session.sql(text).distinct())
            before, count = count, rows.count()

    def _stored(self, rows: DataFrame) -> DataFrame:
        return self._session.createDataFrame(rows.toArrow(), schema=rows.schema)

    def _rows(self, name: str) -> pa.Table | SparkError:
        try:
            return to_arrow(self._session.table(quoted(name)))
        except PySparkException as error:
            return _said(error)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def _said(error: PySparkException) -> SparkError:
    return SparkError(str(error).strip().splitlines()[0])
