"""A Spark session to compile with, where the caller has none: quiet, local, gone afterwards."""

from __future__ import annotations

import os
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dbsp.circuits.errors import Error
from dbsp.sql.catalyst.jvm.java import require_java

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

_OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    # A JVM that lives for one program starts and compiles it in 6 s of CPU time this way instead of 14 s.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@contextmanager
def compile_session() -> Iterator[SparkSession]:
    """The active session if there is one, else a small one that is stopped afterwards."""
    # PySpark warns of pandas 3, which takes no part in compiling.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415  a cache hit must not pay for the import
    from pyspark.sql import SparkSession  # noqa: PLC0415

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    with tempfile.TemporaryDirectory(prefix="dbsp-") as scratch:
        conf = SparkConf().setMaster("local[1]").setAppName("dbsp compile").setAll(list(_OPTIONS.items()))
        conf.set("spark.sql.warehouse.dir", os.path.join(scratch, "warehouse"))
        ours = SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ
        if ours:
            require_java()
            launch_quietly(conf, Path(scratch, "spark.log"))
        context = SparkContext.getOrCreate(conf)
        context.setLogLevel("ERROR")
        session = SparkSession(context)
        try:
            yield session
        finally:
            session.stop()
            if ours:
                _end_jvm()


def launch_quietly(conf: SparkConf, log: Path) -> None:
    """Start the JVM with its stderr in a file.

    No setting silences the launcher's and log4j's first remarks; whatever goes wrong reaches Python as an
    exception. Raises Error.
    """
    from pyspark import SparkContext  # noqa: PLC0415
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    with log.open("wb") as sink:
        try:
            gateway = launch_gateway(conf, {"stderr": sink, "stdout": subprocess.DEVNULL})
        except PySparkRuntimeError as error:
            lines = log.read_text(errors="replace").strip().splitlines()
            raise Error(f"Spark's JVM didn't start: {lines[-1] if lines else error}") from error
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)


def _end_jvm() -> None:
    """End the JVM that `launch_quietly` started: its settings are wrong for anything that runs longer."""
    from pyspark import SparkContext  # noqa: PLC0415

    gateway = SparkContext._gateway
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    # it ends with its standard input
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(timeout=10)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
