"""Tables USING a format: streams of Spark Structured Streaming.

A path is relative to the working directory, as in Spark.
"""

from __future__ import annotations

import glob
import os
from typing import TypeVar

from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader

from dbsp.circuits.errors import ProgramError
from dbsp.pipeline.spark.bad_rows import corrupt_column, marks
from dbsp.pipeline.spark.decoding import decoded, reader_options
from dbsp.pipeline.spark.records import record_columns, with_origin
from dbsp.pipeline.spark.staging import without_unread
from dbsp.rows.binary import CORRUPT
from dbsp.running.spark.intervals import columns_ddl, quoted
from dbsp.running.spark.messages import SparkFailure, first_line
from dbsp.sql.compiler.targets.format_columns import given_columns
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.plans.schemas import Field
from dbsp.state.records.places import scheme_of
from dbsp.state.records.reading import streams_of
from dbsp.targets.directories import path_of

Reader = TypeVar("Reader", DataFrameReader, DataStreamReader)
_FOR_EVER = "36500d"


def source_tables(program: Program) -> list[Table]:
    """The tables that are read as streams: those with a format which nothing is inserted into."""
    return [program.inputs[name] for name in streams_of(program)]


def check_paths(tables: list[Table]) -> None:
    """ProgramError at the first table whose files aren't there."""
    for table in tables:
        if table.is_file:
            path = path_of(table)
            if scheme_of(path) is None and not glob.glob(path):
                raise ProgramError(
                    f"{table.location}: table '{table.name}': there is no '{path}'; "
                    "create the directory or correct OPTIONS (path ...)"
                )


def check_scheme(spark: SparkSession, table: Table) -> None:
    """ProgramError where Spark knows no files of that scheme."""
    scheme = scheme_of(path_of(table))
    if scheme is None:
        return
    jvm = spark._jvm
    assert jvm is not None
    try:
        jvm.org.apache.hadoop.fs.FileSystem.getFileSystemClass(scheme, spark._jsc.hadoopConfiguration())
    except SparkFailure:
        raise ProgramError(
            f"{table.location}: table '{table.name}': Spark knows no files on '{scheme}'; use a local path, "
            "or give Spark the package that knows them"
        ) from None


def file_count(table: Table) -> int:
    """The files a stream would read, as far as names tell: those hidden from Spark aren't counted."""
    found = glob.glob(path_of(table))
    return sum(len(_visible(path)) if os.path.isdir(path) else 1 for path in found)


def _visible(directory: str) -> list[str]:
    return [entry.name for entry in os.scandir(directory) if not entry.name.startswith(("_", "."))]


def files_per_step(table: Table) -> int:
    """The option maxFilesPerTrigger, which without it is beyond any count."""
    for name, value in table.options.items():
        if name.lower() == "maxfilespertrigger":
            return max(1, int(value))
    return 1 << 62


def open_source(spark: SparkSession, table: Table, read: frozenset[int]) -> DataFrame:
    """The stream of the table's rows. read: the columns that something reads; of what is no text nothing else
    is looked at, but for NULL where none may be.

    Raises ProgramError for what Spark can't read.
    """
    assert table.format is not None
    if not table.is_file:
        frame = messages_of(spark, table)
    else:
        check_scheme(spark, table)
        path = path_of(table)
        if os.path.isfile(path):  # a stream takes a file only as what a pattern finds
            path = f"{path[:-1]}[{path[-1]}]"
        reader = apart_of(spark.readStream, table).option("path", path)
        if "maxfileage" not in map(str.lower, table.options):
            # Spark skips a file a week older than the newest it has seen, as one copied with its time
            reader = reader.option("maxFileAge", _FOR_EVER)
        frame = _loaded(table, reader)
    try:
        return decoded(table, frame, read) if table.value_format is not None else named(table, frame, read)
    except SparkFailure as error:
        raise ProgramError(f"{table.location}: table '{table.name}': {first_line(error)}") from error


def messages_of(spark: SparkSession, table: Table) -> DataFrame:
    """The stream of a source that isn't of files, as Spark reads it. Raises ProgramError where it can't."""
    assert table.format is not None
    return _loaded(table, spark.readStream.format(table.format).options(**reader_options(table)))


def _loaded(table: Table, reader: DataStreamReader) -> DataFrame:
    try:
        return reader.load()
    except SparkFailure as error:
        raise ProgramError(f"{table.location}: table '{table.name}': {first_line(error)}") from error


def reader_of(reader: Reader, table: Table, more: str = "") -> Reader:
    """`spark.read` or `spark.readStream` for files of the table's kind. more: DDL after the columns'."""
    assert table.format is not None
    options = {name: value for name, value in table.options.items() if name.lower() != "path"}
    if table.format.lower() == "csv" and "enforceschema" not in map(str.lower, options):
        # Spark takes the columns of a CSV file by position, whatever its head calls them
        options["enforceSchema"] = "false"
    given = given_columns(table.format, table.options)
    columns = record_columns(table) if given is None else [Field(*column) for column in given.items()]
    return reader.format(table.format).options(**options).schema(columns_ddl(columns) + more)


def apart_of(reader: Reader, table: Table) -> Reader:
    """The same, with what can't be read beside it where the table keeps bad rows."""
    made = reader_of(reader, table, corrupt_column(table))
    return made.option("columnNameOfCorruptRecord", CORRUPT) if table.keeps_bad_rows else made


def named(
    table: Table, frame: DataFrame, read: frozenset[int] | None = None, one_a_key: bool = False
) -> DataFrame:
    """The frame under the table's column names: by name if it has all that a row brings, else by position.

    Of a changelog the records. read: see `open_source`; None: all. one_a_key: see `marks`.
    """
    names = [field.name for field in record_columns(table)]
    there = {column.lower() for column in frame.columns}
    if all(name.lower() in there or name in table.filled for name in names):
        if read is not None and table.keeps_bad_rows and not (table.changelog or CORRUPT in frame.columns):
            frame = without_unread(frame, table, read)
        kept = marks(table, frame, None, one_a_key) if table.keeps_bad_rows else []
        if table.changelog is not None:
            return with_origin(table, frame, kept)
        return frame.select(*(quoted(name) for name in names if name.lower() in there), *kept)
    if len(names) == len(frame.columns):
        return named(table, frame.toDF(*names), read, one_a_key)
    found = ", ".join(f"{column.name} {column.dataType.simpleString()}" for column in frame.schema)
    raise ProgramError(
        f"{table.location}: table '{table.name}': the columns of format {table.format} are: {found}; "
        f"declare these (all, or some by name) instead of: {', '.join(names)}"
    )
