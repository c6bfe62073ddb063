"""What is around a refresh, asked of a session of Spark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from dbsp.declared.logs.changed import Rows, is_of_log
from dbsp.declared.logs.opened import log_of
from dbsp.declared.project.datasets import Dataset, Project, Table, shown
from dbsp.declared.project.surroundings import Arrived, Files
from dbsp.declared.remembered.remembered import LARGE
from dbsp.declared.spark.catalog import Catalog
from dbsp.declared.spark.logged.in_tasks import in_tasks
from dbsp.declared.spark.recomputing import recompute, rows_of
from dbsp.declared.spark.sending import send
from dbsp.declared.spark.sources import look


@dataclass(frozen=True)
class Asking:
    """Of a classic session."""

    spark: SparkSession

    def look(self, table: Table, schema: pa.Schema, known: Files | None, compared: bool) -> Arrived:
        """See `Surroundings`."""
        if table.logged is None:  # what was read by a log isn't of files
            before = None if is_of_log(known) else known
            return look(self.spark, table, before)
        log = log_of(shown(table.name), table.logged)
        changed = log.look(schema, table.streamed, known, compared, table.twice)
        return changed.arrived(known, self._rows)

    def _rows(self, pieces: Rows) -> object:
        return pieces.table() if pieces.size < LARGE else in_tasks(self.spark, pieces)

    def directory(self, dataset: Dataset, ours: bool) -> Path:
        """See `Surroundings`."""
        return Catalog(self.spark).directory(dataset, ours)

    def written(self, dataset: Dataset, repaired: bool) -> None:
        """See `Surroundings`."""
        Catalog(self.spark).refresh(dataset, repaired)

    def send(self, sink: Dataset, rows: Path) -> None:
        """See `Surroundings`."""
        send(self.spark, sink, rows)

    def recompute(self, project: Project, dataset: Dataset) -> tuple[object, int]:
        """See `Surroundings`."""
        if not dataset.is_stored:
            return rows_of(self.spark, project, dataset), 0
        self.directory(dataset, ours=False)
        count = recompute(self.spark, project, dataset)
        return self.spark.table(dataset.name), count
