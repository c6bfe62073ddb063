"""Tables with a log, known to Spark's analyser without the jar of their format.

An analyser asks a table for its columns only. So while a project is read, the session's catalogue is one that
has them from the log (`Logged.java`, which asks back here), and for all other tables is the session's own.
Whoever has set another catalogue, as that of Delta's jar, has the columns from that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbsp.circuits.errors import Error
from dbsp.declared.logs.delta import DELTA
from dbsp.declared.logs.iceberg import CATALOG, ICEBERG
from dbsp.declared.logs.opened import log_of
from dbsp.declared.project.datasets import Logged
from dbsp.sql.catalyst.jvm.classes import class_loader
from dbsp.sql.text.tokens import quoted

_SOURCE = Path(__file__).with_name("Logged.java")
_CATALOG = "spark.sql.catalog.spark_catalog"
_SESSION = "spark_catalog"
_NONE = "builtin"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
_CATALOGS = "spark.sql.catalog."
_S3 = re.compile(r"^s3[an]://")
_NAMED = re.compile(r"spark\.sql\.catalog\.[^.]+")


@contextmanager
def analysing(spark: SparkSession) -> Iterator[dict[str, str]]:
    """Within it names of such tables are resolved, and those that are put in what it gives, with schemas in
    JSON. Raises Error for a table whose log can't be read.
    """
    asked = _Asked(spark)
    made = _class(spark.sparkContext._gateway)
    own = {name: f"{made.getName()}$Elsewhere" for name in _iceberg(spark)}
    before = {name: spark.conf.get(name, None) for name in own}
    given = spark.conf.get(_CATALOG, _NONE)
    if given == _NONE or (given == DELTA_CATALOG and not _is_there(spark, DELTA_CATALOG)):
        own[_CATALOG], before[_CATALOG] = made.getName(), None  # one whose class isn't there would never do
    try:
        with _found(spark, made):
            made.getField("schemas").set(None, asked)
            for name, value in own.items():
                spark.conf.set(name, value)
            yield asked.loaded
    except PySparkException:
        if asked.failed:
            raise asked.failed[0] from None
        raise
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


def _iceberg(spark: SparkSession) -> list[str]:
    """The settings that name a catalogue of Iceberg's, whose class isn't there."""
    found = [name for name, value in _catalogs(spark).items() if value == SPARK_CATALOG]
    return found if found and not _is_there(spark, SPARK_CATALOG) else []


def _is_there(spark: SparkSession, name: str) -> bool:
    """Whether the JVM has the class."""
    try:
        spark._jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(name)
    except Py4JJavaError:
        return False
    return True


def _catalogs(spark: SparkSession) -> dict[str, str]:
    return {name: value for name, value in spark.conf.getAll.items() if _NAMED.fullmatch(name)}


def _of_iceberg(spark: SparkSession, parts: list[str]) -> Logged | None:
    """The catalogue's settings, as pyiceberg has them."""
    before = f"{_CATALOGS}{parts[0]}"
    own = (SPARK_CATALOG, f"{_class(spark.sparkContext._gateway).getName()}$Elsewhere")
    if spark.conf.get(before, None) not in own:
        return None
    given = {
        name.removeprefix(f"{before}."): value
        for name, value in spark.conf.getAll.items()
        if name.startswith(f"{before}.")
    }
    kind = given.pop("type", None)
    if kind not in ("rest", "hive", "glue", "jdbc"):
        said = f"type {kind}" if kind else given.get("catalog-impl", "no type")
        raise Error(
            f"not supported yet: catalogue '{parts[0]}' of Iceberg with {said}; those of the types rest, "
            "hive, glue and jdbc are read"
        )
    if kind == "jdbc":
        kind, uri = "sql", given.get("uri", "").removeprefix("jdbc:")
        given["uri"] = uri.replace("sqlite:", "sqlite:///", 1) if uri.startswith("sqlite:/") else uri
    options = {CATALOG: parts[0], "type": kind, **given}
    return Logged(ICEBERG, ".".join(parts[1:]), tuple(sorted(options.items())))


def elsewhere(spark: SparkSession, parts: list[str]) -> Logged | None:
    """Of a table in a catalogue of its format's own, whether it is there or not; None of any other."""
    return _of_iceberg(spark, parts) if _is_elsewhere(parts) else None


def _is_elsewhere(parts: list[str]) -> bool:
    return len(parts) > 2 and parts[0] != _SESSION


def logged(spark: SparkSession, parts: list[str]) -> Logged | None:
    """parts: of a table's name. None of a table without a log that is read here."""
    if len(parts) > 1 and parts[-2].lower() == DELTA and ("/" in parts[-1]):
        return Logged(DELTA, _address(parts[-1]))
    if _is_elsewhere(parts):
        return elsewhere(spark, parts)
    if len(parts) not in (2, 3):
        return None
    catalog = spark._jsparkSession.sessionState().catalog()
    identifier = spark._jvm.org.apache.spark.sql.catalyst.TableIdentifier(
        parts[-1], spark._jvm.scala.Some(parts[-2])
    )
    if not catalog.tableExists(identifier):
        return None
    found = catalog.getTableMetadata(identifier)
    provider = found.provider()
    if provider.isEmpty() or str(provider.get()).lower() != DELTA:
        return None
    return Logged(DELTA, _address(str(found.location().toString())))


def _address(place: str) -> str:
    """Hadoop has several names for S3."""
    return _S3.sub("s3://", place)


@dataclass
class _Asked:
    """What the JVM asks, of threads of its own. loaded: schemas by quoted names. failed: what is to be raised
    where it has given up.
    """

    spark: SparkSession
    loaded: dict[str, str] = field(default_factory=dict)
    failed: list[Error] = field(default_factory=list)

    def apply(self, name: str) -> str | None:
        """See `Logged.java`."""
        parts = name.split("\n")
        if (schema := self.loaded.get(quoted([_SESSION, *parts]))) is not None:
            return schema
        try:
            found = logged(self.spark, parts)
            return None if found is None else log_of(".".join(parts), found).schema()
        except Error as error:
            self.failed.append(error)
            raise

    class Java:
        """Py4J's."""

        implements = ("java.util.function.Function",)


@contextmanager
def _found(spark: SparkSession, made: Any) -> Iterator[None]:
    """Threads that this one starts in the JVM find the class, as sessions do that are copied there."""
    thread = spark._jvm.java.lang.Thread.currentThread()
    before = thread.getContextClassLoader()
    thread.setContextClassLoader(made.getClassLoader())
    try:
        yield
    finally:
        thread.setContextClassLoader(before)


@cache
def _class(gateway: Any) -> Any:
    """Of a JVM that can ask back from then on."""
    from pyspark.java_gateway import ensure_callback_server_started  # noqa: PLC0415  a private part of it

    ensure_callback_server_started(gateway)
    return class_loader(gateway, _SOURCE).loadClass("dbsp.Logged")
