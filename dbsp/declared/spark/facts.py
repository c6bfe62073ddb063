"""What of a session's answers stays true without it: where a table's files are, what its catalogue is."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from dbsp.declared.project.datasets import Table
from dbsp.declared.project.surroundings import Files
from dbsp.declared.spark.loading import frame_of
from dbsp.declared.spark.logged.analysing import DELTA_CATALOG, SPARK_CATALOG
from dbsp.declared.spark.scala import each
from dbsp.declared.spark.sources import files_of, is_catalogued, relation_of
from dbsp.state.records.places import local_path, scheme_of

# settings by which files or tables are read in another way
_ELSEWHERE = (
    *(
        "spark.sql.parquet.",
        "spark.sql.files.",
        "spark.sql.sources.",
        "spark.sql.hive.",
        "spark.sql.catalog.",
    ),
    *("spark.sql.extensions", "spark.hadoop.hive.", "spark.hadoop.javax.", "spark.sql.legacy."),
)
_BY_LOGS = (DELTA_CATALOG, SPARK_CATALOG, "io.delta.sql.DeltaSparkSessionExtension")
_DERBY = re.compile(r"jdbc:derby:;?databaseName=([^;]+)(;create=true)?")
_PATTERN = frozenset("*?[]{}")  # of a path: it may stand for other directories another time
_LISTS, _PARQUET = "InMemoryFileIndex", "ParquetFileFormat"


@dataclass(frozen=True)
class Place:
    """Of a table of Parquet files in one directory. prefix: what is spelled before their names.

    catalogued: whether its columns are the catalogue's; inferred: whether they are a file's.
    """

    root: Path
    prefix: str
    files: Files
    catalogued: bool
    inferred: bool


def place_of(spark: SparkSession, of: Table) -> Place | None:
    """None where only Spark knows how the table is read."""
    table, name = frame_of(spark, of), of.name
    relation = relation_of(table)
    patterns = set(name if of.loaded is None else "".join(of.loaded.paths)) & _PATTERN
    if patterns or relation is None or "__CHAR_VARCHAR" in str(table._jdf.schema().json()):
        return None
    options = {str(pair._1()) for pair in each(relation.options())} - {"path", "serialization.format"}
    location = relation.location()
    roots = list(each(location.rootPaths()))
    plain = (
        relation.fileFormat().getClass().getSimpleName() == _PARQUET
        and location.getClass().getSimpleName() == _LISTS
        and relation.partitionSchema().isEmpty()
        and not options
        and len(roots) == 1
    )
    if not plain:
        return None
    root = str(roots[0].toString())
    inferred = not is_catalogued(of) and (of.loaded is None or not of.loaded.schema)
    files = files_of(spark, table)
    prefixes = {file.rpartition("/")[0] for file in files}
    if scheme_of(root) is not None or len(prefixes) != 1:
        return None
    return Place(Path(local_path(root)), prefixes.pop(), files, is_catalogued(of), inferred)


def is_usual(spark: SparkSession) -> bool:
    """Whether nothing is set by which tables are read in another way than Spark's own."""
    given = {**dict(spark.sparkContext.getConf().getAll()), **spark.conf.getAll}
    # tables of Delta and Iceberg are read by their logs, as settings say that a reading follows from
    known = tuple(f"{name}." for name, value in given.items() if value in _BY_LOGS)
    return not any(name.startswith(_ELSEWHERE) and not f"{name}.".startswith(known) for name in given)


def metastore_of(spark: SparkSession) -> Path | None:
    """The directory of the catalogue that this process has open; None: it is in memory.

    Raises LookupError for one that others can write meanwhile.
    """
    jvm: Any = spark._jvm
    kind = str(spark._jsparkSession.sharedState().externalCatalog().unwrapped().getClass().getSimpleName())
    if kind == "InMemoryCatalog":
        return None
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    url = conf.get("javax.jdo.option.ConnectionURL")
    matched = None if url is None else _DERBY.fullmatch(str(url))
    if kind != "HiveExternalCatalog" or conf.get("hive.metastore.uris") or (url and matched is None):
        raise LookupError(kind)
    home = jvm.java.lang.System.getProperty("derby.system.home") or os.getcwd()
    found = Path(str(home)) / (matched[1] if matched is not None else "metastore_db")
    if not (found / "db.lck").exists():
        raise LookupError(str(found))
    return found
