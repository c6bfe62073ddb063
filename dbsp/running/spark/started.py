"""`dbsp.session`: a Spark session for `Pipeline(spark=...)`, as `dbsp run` starts one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from dbsp.running.spark.session import session as started
from dbsp.running.spark.settings import Settings


def session(
    *,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    packages: Sequence[str] = (),
    jars: Sequence[str] = (),
    ui: bool = False,
) -> SparkSession:
    """The session of this process, or a new one, of short jobs; a local one is on loopback.

    master: where it runs, default all cores of this machine. packages: group:artifact:version, which Spark
    fetches. Raises Error where one runs already that has other settings.
    """
    return started(ui=ui, settings=Settings(master, conf or {}, packages, jars))
