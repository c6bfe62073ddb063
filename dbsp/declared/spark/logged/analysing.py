"""Tables with a log, known to Spark's analyser without the jar of their format.

An analyser asks a table for its columns only. So while a project is read, the session's catalogue is one that
has them from the log (`Logged.java`, which asks back here), and for all other tables is the session's own.
Whoever has set another catalogue, as that of Delta's jar, has the columns from that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbsp.circuits.errors import Error
from dbsp.declared.logs.delta import DELTA
from dbsp.declared.logs.opened import log_of
from dbsp.declared.project.datasets import Logged

_CATALOG = "spark.sql.catalog.spark_catalog"
_NONE = "builtin"


@contextmanager
def analysing(spark: SparkSession) -> Iterator[None]:
    """Within it names of such tables are resolved. Raises Error for a table whose log can't be read."""
    if (spark.conf.get(_CATALOG, _NONE) or _NONE) != _NONE:
        yield
        return
    asked = _Asked(spark)
    made = _class(spark.sparkContext._gateway)
    try:
        with _found(spark, made):
            made.getField("schemas").set(None, asked)
            spark.conf.set(_CATALOG, made.getName())
            yield
    except PySparkException:
        if asked.failed:
            raise asked.failed[0] from None
        raise
    finally:
        spark.conf.unset(_CATALOG)


def logged(spark: SparkSession, parts: list[str]) -> Logged | None:
    """parts: of a table's name. None of a table without a log that is read here."""
    if len(parts) > 1 and parts[-2].lower() == DELTA and ("/" in parts[-1]):
        return Logged(DELTA, parts[-1])
    if len(parts) not in (2, 3) or (len(parts) == 3 and parts[0] != "spark_catalog"):
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
    return Logged(DELTA, str(found.location().toString()))


@dataclass
class _Asked:
    """What the JVM asks, of threads of its own. failed: what is to be raised where it has given up."""

    spark: SparkSession
    failed: list[Error] = field(default_factory=list)

    def apply(self, name: str) -> str | None:
        """See `Logged.java`."""
        parts = name.split("\n", 1)
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
    """Compiled once in a JVM, which can ask back from then on."""
    from pyspark.java_gateway import ensure_callback_server_started  # noqa: PLC0415  a private part of it

    ensure_callback_server_started(gateway)
    compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook((Path(__file__).parent / "Logged.java").read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass("Logged")
