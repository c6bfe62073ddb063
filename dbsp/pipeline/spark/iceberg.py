"""Iceberg tables, read whole: snapshots of a table that others write.

    CREATE TABLE price (product STRING, cents INT, PRIMARY KEY (product))
    USING iceberg OPTIONS (table 'shop.price', type 'rest', uri '...') WITH (snapshot = 'every step');

The table's metadata says which files a snapshot of it has, each of which a task reads; so a look is at one
snapshot, whatever is committed meanwhile, and a snapshot that was looked at needn't be read again. Files
don't change, so that of two snapshots s and t only those are read which one of them has:

    rows(t) − rows(s) = rows(files(t) ∖ files(s)) − rows(files(s) ∖ files(t))

An append is the rows of its files. By pyiceberg (`dbsp[iceberg]`), in any Spark: what Iceberg has for Spark
is of each Spark.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dbsp.circuits.errors import Error, ProgramError
from dbsp.running.spark.intervals import columns_ddl
from dbsp.sql.plans.own_forms import ICEBERG
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.types import UnsupportedType
from dbsp.targets.iceberg.catalog import TABLE, catalog_of

if TYPE_CHECKING:
    from pyiceberg.io.pyarrow import ArrowScan
    from pyiceberg.table import DataScan, FileScanTask
    from pyiceberg.table import Table as IcebergTable

# files of one task, at least as many tasks as there are cores
_TASKS_A_CORE = 4


def is_of_catalog(table: Table) -> bool:
    """Whether it is named in a catalog, and not by a path, as Spark's reader takes it."""
    return (table.format or "").lower() == ICEBERG.name and bool(table.option(TABLE))


@dataclass(frozen=True)
class Look:
    """At a table as it is now."""

    declared: Table
    table: IcebergTable

    @property
    def version(self) -> str:
        """What is there is the same while this is."""
        snapshot, schema = self.table.current_snapshot(), self.table.schema().schema_id
        return f"{self.table.metadata.table_uuid} {schema} {snapshot.snapshot_id if snapshot else ''}"

    def frame(self, spark: SparkSession) -> DataFrame:
        """The declared columns of its rows. Raises Error where the table hasn't one that Spark could have."""
        snapshot = self.table.current_snapshot()
        return self._rows(spark, self._planned(snapshot.snapshot_id) if snapshot is not None else [])

    def since(self, spark: SparkSession, version: str) -> tuple[DataFrame, DataFrame] | None:
        """The rows of the files that came since a version, and of those that went.

        None: the rows of files aren't theirs alone, since files with deletions stand beside them or columns
        have changed; or the snapshot of that version was expired, and its files may be gone.
        """
        *same, now = self.version.split(" ")
        *there, then = version.split(" ")
        if same != there or not now or (then and self.table.snapshot_by_id(int(then)) is None):
            return None
        new, old = (self._planned(int(one)) if one else [] for one in (now, then))
        if any(task.delete_files for task in (*new, *old)):
            return None
        before, after = ({task.file.file_path for task in tasks} for tasks in (old, new))
        return (
            self._rows(spark, [task for task in new if task.file.file_path not in before]),
            self._rows(spark, [task for task in old if task.file.file_path not in after]),
        )

    def _planned(self, snapshot: int) -> list[FileScanTask]:
        return [*self._scan(snapshot).plan_files()]

    def _scan(self, snapshot: int | None = None) -> DataScan:
        names = {field.name.lower(): field.name for field in self.table.schema().fields}
        columns = [field.name for field in self.declared.schema]
        missing = [name for name in columns if name.lower() not in names]
        if missing:
            listed = ", ".join(names.values())
            raise Error(f"table '{self.declared.name}': no column '{missing[0]}' there; columns: {listed}")
        found = tuple(names[name.lower()] for name in columns)
        return self.table.scan(selected_fields=found, snapshot_id=snapshot)

    def _rows(self, spark: SparkSession, files: list[FileScanTask]) -> DataFrame:
        from pyiceberg.io.pyarrow import ArrowScan  # noqa: PLC0415  an extra

        scan = self._scan()
        reading = ArrowScan(self.table.metadata, self.table.io, scan.projection(), scan.row_filter)
        schema = pa.schema([_plain(field) for field in scan.projection().as_arrow()])
        try:
            given = columns_ddl([Field(field.name, field.type) for field in schema])
        except UnsupportedType as error:
            raise Error(
                f"table '{self.declared.name}': Spark has no type {error}; leave the column out"
            ) from None
        tasks = max(1, min(len(files), _TASKS_A_CORE * spark.sparkContext.defaultParallelism))
        numbers = spark.range(0, len(files), 1, tasks)
        return numbers.mapInArrow(_Files(reading, files, schema), given)


def look_at(table: Table) -> Look:
    """Raises ProgramError without pyiceberg, Error where the catalog hasn't the table."""
    if importlib.util.find_spec("pyiceberg") is None:
        what = f"table '{table.name}' USING iceberg needs pyiceberg: pip install 'dbsp[iceberg]'"
        raise ProgramError(f"{table.location}: {what}")
    from pyiceberg.exceptions import NoSuchTableError  # noqa: PLC0415  an extra

    try:
        return Look(table, catalog_of(table).load_table(table.option(TABLE)))
    except NoSuchTableError as error:
        raise Error(f"{table.location}: table '{table.name}' can't be read: {error}") from error


@dataclass(frozen=True)
class _Files:
    """The function for `mapInArrow`: the rows of the files that are numbered."""

    scan: ArrowScan
    files: list[FileScanTask]
    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for rows in self.scan.to_record_batches([self.files[number]]):
                    yield rows.select(self.schema.names).cast(self.schema)


def _plain(field: pa.Field) -> pa.Field:
    """As Spark and this project have it: without what says how it is stored."""
    return pa.field(field.name, _plain_type(field.type))


def _plain_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(type_):
        return pa.string()
    if pa.types.is_large_binary(type_):
        return pa.binary()
    if pa.types.is_timestamp(type_) and type_.tz:
        return pa.timestamp("us", tz="UTC")
    if pa.types.is_struct(type_):
        return pa.struct([_plain(field) for field in type_])
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return pa.list_(_plain_type(type_.value_type))
    if pa.types.is_map(type_):
        return pa.map_(_plain_type(type_.key_type), _plain_type(type_.item_type))
    return type_
