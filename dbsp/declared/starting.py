"""The session of a project: tables lie where Spark's own commands put them, and the time zone is theirs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dbsp.running.spark.session import session
from dbsp.running.spark.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ZONE = "spark.sql.session.timeZone"


def started(settings: Settings) -> SparkSession:
    """The session that there is; else a new one. Raises Error, as `session` does."""
    warehouse = {"spark.sql.warehouse.dir": str(Path.cwd() / "spark-warehouse")}
    configured = {**warehouse, **settings.conf}
    spark = session(settings=Settings(settings.master, configured, settings.packages, settings.jars))
    if _ZONE not in configured:  # Spark's is the machine's
        jvm = spark._jvm
        assert jvm is not None
        spark.conf.set(_ZONE, jvm.java.util.TimeZone.getDefault().getID())
    return spark
