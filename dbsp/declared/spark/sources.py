"""What has changed in a table of the catalogue since it was last read.

    by files      F' ⊇ F, each with its size and time   the rows of F' − F are new
                  F' = F                                 nothing
    otherwise     the difference of all its rows from what the state holds

F is the files that the table had, F' those that it has. A table that isn't of files (a view, JDBC) is
compared whole at every run. One that is read by STREAM is read as Spark's streams read it: each file once, by
its name, whatever becomes of it later.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from dbsp.circuits.errors import Error
from dbsp.declared.project.datasets import Table, shown
from dbsp.declared.project.surroundings import Arrived, Files, news
from dbsp.declared.spark.loading import frame_of
from dbsp.declared.spark.scala import each, pairs

_CATALOGUED = 2  # dots of a name in full: catalog, database, table
_INDEXES = ("InMemoryFileIndex", "CatalogFileIndex", "MetadataLogFileIndex")  # Spark's own lists of files


def look(spark: SparkSession, of: Table, known: Files | None) -> Arrived:
    """known: the files that the state has the rows of; None: its rows are of no files. Raises Error."""
    name, streamed = of.name, of.streamed
    try:
        if is_catalogued(of):
            spark.catalog.refreshTable(name)  # of files that are named by their path Spark remembers nothing
        table = frame_of(spark, of)
        relation = relation_of(table)
        files = files_of(spark, table) if relation is not None else None
    except PySparkException as error:
        raise Error(f"table {shown(name)} can't be read: {_first_line(error)}") from error
    if files is None:
        if streamed:
            raise Error(
                f"not supported yet: STREAM of {shown(name)}, which isn't a table of files; "
                "read it without STREAM"
            )
        return Arrived("compared", None, lambda: table)
    if streamed and known is None:
        raise Error(
            f"not supported yet: STREAM of {shown(name)}, whose rows so far are of no files; "
            "--full-refresh-all reads its files from their start"
        )
    return news(files, streamed, known).arrived(lambda new: _of_files(spark, table, relation, new))


def is_catalogued(table: Table) -> bool:
    """Whether it is one of the catalogue, and not of files by their path."""
    return table.loaded is None and table.name.count("`.`") == _CATALOGUED


def relation_of(table: DataFrame) -> Any:
    """What Spark knows of a table of files that it reads itself; None of any other.

    A view over one isn't: its rows are those of a query.
    """
    execution = table._jdf.queryExecution()
    named = execution.analyzed()
    while named.getClass().getSimpleName() == "SubqueryAlias":
        named = named.child()
    if named.getClass().getSimpleName() == "View":
        return None
    leaves = execution.optimizedPlan().collectLeaves()
    if leaves.size() != 1 or leaves.head().getClass().getSimpleName() != "LogicalRelation":
        return None
    found = leaves.head().relation()
    if found.getClass().getSimpleName() != "HadoopFsRelation":
        return None
    # of a format with a log, as Delta's, a file may have rows that the log says are gone
    return found if found.location().getClass().getSimpleName() in _INDEXES else None


def files_of(spark: SparkSession, table: DataFrame) -> dict[str, list[int]]:
    """Of the table, by the names that Spark gives them."""
    return {file: _seen(spark, file) for file in sorted(table.inputFiles())}


def _seen(spark: SparkSession, file: str) -> list[int]:
    if file.startswith("file:"):
        status = os.stat("/" + unquote(file.removeprefix("file:")).lstrip("/"))
        return [status.st_size, status.st_mtime_ns]
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(file))
    found = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).getFileStatus(path)
    return [found.getLen(), found.getModificationTime()]


def _of_files(spark: SparkSession, table: DataFrame, relation: Any, files: list[str]) -> DataFrame:
    """The table's rows that are in these of its files, whatever has come meanwhile."""
    if not files:
        return table.limit(0)
    options = pairs(relation.options())
    options.pop("path", None)
    roots = list(each(relation.location().rootPaths()))
    if len(roots) == 1:  # a partition's values are in the directories below it
        options["basePath"] = str(roots[0].toString())
    reader = spark.read.format(str(relation.fileFormat().shortName())).options(**options).schema(table.schema)
    return reader.load(list(map(unquote, files))).select(*(f"`{name}`" for name in table.columns))


def _first_line(error: PySparkException) -> str:
    return str(error).strip().split("\n", 1)[0]
