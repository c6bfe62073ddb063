"""Sinks that Spark writes: files, messages, and any other format, to which rows are appended.

Files: the changes of step n are the directory `path/__step=n`, which appears as a whole and is
replaced as a whole, so that writing it again is harmless; a reader of `path` gets `__step` as a column.
Other formats are appended to: a crash between a step's write and the record of it writes that step twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from dbsp.circuits.columns.forms.outside import without_months
from dbsp.circuits.disk import disk
from dbsp.circuits.errors import Error, StateError
from dbsp.pipeline.spark.fed import Fed, spark_of
from dbsp.pipeline.spark.messages.columns import Message, has_columns
from dbsp.pipeline.spark.messages.encoding import check_encoding, encoded
from dbsp.pipeline.spark.messages.options import kafka_options, written_options
from dbsp.pipeline.spark.messages.produced import Produced, producing_of
from dbsp.pipeline.spark.messages.transactions import Transactions
from dbsp.pipeline.spark.sources import check_scheme
from dbsp.running.spark.intervals import columns_ddl, with_intervals
from dbsp.running.spark.messages import first_line, own_error
from dbsp.running.spark.session import share_packages
from dbsp.sql.plans.program import OP, STEP, Insert, Table
from dbsp.sql.plans.schemas import Field
from dbsp.state.records.commits import sync
from dbsp.state.records.places import scheme_of
from dbsp.targets.directories import BEGIN_HERE, began_after, cut_off, path_of, strangers
from dbsp.targets.outlet import BEGIN_ANEW, Outlet
from dbsp.targets.reading import reading_of
from dbsp.targets.target import Change, Target


def opened(pipeline: Fed, table: Table, outlet: Outlet) -> Target:
    """The sink of a table. Raises ProgramError, or StateError where its files are another state's."""
    if table.value_format is not None:
        check_encoding(table)
        producing = producing_of(outlet)
        if producing is not None and has_columns(table):
            return Produced(outlet, producing)
        return Messages(pipeline, table, producing if isinstance(producing, Transactions) else None)
    return Files(pipeline, table, outlet) if table.is_file else Appended(pipeline, table)


@dataclass
class Appended:
    """A table of any format that Spark writes, which gets the records of each step."""

    pipeline: Fed
    table: Table

    @property
    def directory(self) -> str | None:
        """Of files."""
        return None

    @cached_property
    def spark(self) -> SparkSession:
        """Started only where there is something to write."""
        spark = spark_of(self.pipeline)
        share_packages(spark.sparkContext)
        return spark

    def write(self, step: int, changes: Sequence[Change]) -> None:
        """By as many tasks as the step's changes have chunks."""
        frames = [self._changes(insert, step, chunks) for insert, chunks in changes]
        self._write(step, reduce(DataFrame.unionByName, frames))

    def why(self, error: Exception) -> str:
        """In one line."""
        return str(own_error(error) or first_line(error))

    def close(self) -> None:
        """There is nothing that is kept open."""

    def _changes(
        self, insert: Insert, step: int, chunks: Sequence[list[object]], op: bool = False
    ) -> DataFrame:
        """The view's changes as the target's columns, read by the executors. op: with a last one `__op`."""
        reading = reading_of(self.pipeline.program, self.pipeline.store, insert, step, chunks, op)
        numbers = self.spark.range(0, len(chunks), 1, len(chunks))
        fields = [Field(field.name, field.type) for field in reading.schema]
        given = [replace(c, type=without_months(c.type)) for c in fields]
        return with_intervals(numbers.mapInArrow(reading, columns_ddl(given)), [c.type for c in fields])

    def _write(self, step: int, changes: DataFrame) -> None:
        assert self.table.format is not None
        changes.write.format(self.table.format).options(**self.table.options).mode("append").save()


@dataclass
class Messages(Appended):
    """Messages of Kafka that Spark encodes, with a format of their own. transactions: that have each step
    once; None: Spark writes them, too.
    """

    transactions: Transactions | None = None

    def _changes(
        self, insert: Insert, step: int, chunks: Sequence[list[object]], op: bool = True
    ) -> DataFrame:
        op = op and not any(field.name.lower() == OP for field in self.table.schema)
        records = super()._changes(insert, step, chunks, op)
        return encoded(self.table, records, step, insert.shape == "upsert")

    def _write(self, step: int, changes: DataFrame) -> None:
        if self.transactions is not None:
            self.transactions.write(step, map(_message, changes.toLocalIterator()))
        else:
            changes.write.format("kafka").options(**kafka_options(self.table)).mode("append").save()

    def close(self) -> None:
        """Leave the broker."""
        if self.transactions is not None:
            self.transactions.close()


def _message(row: Row) -> Message:
    headers = [(header.key, bytes(header.value)) for header in row.headers]
    return _bytes(row["key"] if "key" in row else None), _bytes(row["value"]), headers  # noqa: SIM401  no dict


def _bytes(part: str | bytearray | None) -> bytes | None:
    return part.encode() if isinstance(part, str) else None if part is None else bytes(part)


@dataclass
class Files(Appended):
    """Files under a path, a directory a step."""

    outlet: Outlet

    def __post_init__(self) -> None:
        check_scheme(self.spark, self.table)
        # what starts from nothing each time writes the same steps again
        if not self.pipeline.store.is_temporary:
            self._refuse_strangers()
            self._refuse_another()

    @property
    def directory(self) -> str | None:
        return path_of(self.table)

    def _refuse_strangers(self) -> None:
        """Steps that this state hasn't made are another one's: a reader would take both for one changelog."""
        path, last, began = path_of(self.table), self.outlet.latest(), self.outlet.before.began
        steps = {*self._steps_in(path)}
        later, earlier = {n for n in steps if n > last}, {n for n in steps if n <= began}
        if later:
            why = (
                f"the last step of the state {self.pipeline.store.root} is {last}: it was written by another "
                "state directory, or before this one went back"
            )
            raise self._refused(strangers(later, path, why))
        if earlier:
            raise self._refused(strangers(earlier, path, began_after(began)))
        self.outlet.seen()

    def _refuse_another(self) -> None:
        """A directory that hasn't what was written to the one before."""
        path, before, store = path_of(self.table), self.outlet.before, self.pipeline.store
        why = cut_off(store, self.table.name, path, before, self.outlet.given, self._steps_in)
        if why is not None:
            is_local = scheme_of(path) is None and scheme_of(before.directory or "") is None
            raise self._refused(f"{why}; or {BEGIN_HERE if is_local else BEGIN_ANEW}")

    def _refused(self, why: str) -> StateError:
        return StateError(f"{self.table.location}: table '{self.table.name}': {why}")

    def _steps_in(self, path: str) -> Iterator[int]:
        """The steps that have a directory there."""
        jvm = self.spark._jvm
        assert jvm is not None
        directory = jvm.org.apache.hadoop.fs.Path(path)
        files = directory.getFileSystem(self.spark._jsc.hadoopConfiguration())
        if files.exists(directory):
            for status in files.listStatus(directory):
                name, _, step = status.getPath().getName().partition("=")
                if name == STEP and step.isdigit():
                    yield int(step)

    def _write(self, step: int, changes: DataFrame) -> None:
        """Write beside the directory, under a name that readers skip, then rename.

        A local one that is there is whole, and stays: to readers its files under other names would be new.
        """
        path, name = path_of(self.table), f"{STEP}={step}"
        jvm = self.spark._jvm
        assert jvm is not None
        partial, final = (jvm.org.apache.hadoop.fs.Path(f"{path}/{child}") for child in ("_partial", name))
        files = final.getFileSystem(self.spark._jsc.hadoopConfiguration())
        local = _local(files, final)
        durable = local is not None and self.pipeline.store.durable
        if local is None or self.pipeline.store.is_temporary or not local.is_dir():
            assert self.table.format is not None
            written = changes.write.format(self.table.format).options(**written_options(self.table))
            written.mode("overwrite").save(partial.toString())
            if local is not None and durable:
                _sync_all(local.with_name("_partial"))
            files.delete(final, True)
            if not files.rename(partial, final):
                raise Error(f"{path}/{name}: can't be written")
        if local is not None and durable:
            with disk(local.parent):
                sync(local.parent)
                sync(local.parent.parent)


def _local(files: Any, path: Any) -> Path | None:
    """The path on a local disk, or None: another file system has rules of its own for what is durable."""
    uri = files.makeQualified(path).toUri()
    return Path(uri.getPath()) if uri.getScheme() == "file" else None


def _sync_all(directory: Path) -> None:
    """Put a directory of files on the disk, before a record says that they were written."""
    with disk(directory):
        for folder, _, names in os.walk(directory):
            for name in names:
                sync(Path(folder, name))
            sync(Path(folder))
