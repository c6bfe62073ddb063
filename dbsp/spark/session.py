"""The Spark session in which steps run: made for short jobs, quiet on a terminal, loopback only."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import circuits
from circuits.errors import Error
from dbsp.spark.java import require_java

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

# Each with its reason; measured on two cores with a job of one task that does nothing.
_OPTIONS = {
    # Loopback sockets wait 40 ms for a delayed ACK in every task: 130 ms a job against 35 ms.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.worker.reuse": "true",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Streaming sources and sinks: nothing here queries their progress, so a few are enough.
    "spark.sql.streaming.numRecentProgressUpdates": "4",
    "spark.sql.streaming.metricsEnabled": "false",
}


def session(name: str = "dbsp", cores: int | None = None, ui: bool = False) -> SparkSession:
    """The active session if there is one, otherwise a new local one.

    cores: of the local master, default all. Raises Error when there is no Java to run on.
    """
    with warnings.catch_warnings():
        # PySpark warns of pandas 3, which takes no part in a step.
        warnings.simplefilter("ignore", FutureWarning)
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        return active if active is not None else _start(name, cores, ui)


def _start(name: str, cores: int | None, ui: bool) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    cores = cores or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores or os.cpu_count()
    conf = SparkConf().setMaster(f"local[{cores}]").setAppName(name)
    for option, value in _OPTIONS.items():
        conf.set(option, value)
    conf.set("spark.ui.enabled", str(ui).lower())
    conf.set("spark.sql.shuffle.partitions", str(cores))
    scratch = tempfile.mkdtemp(prefix="dbsp-")
    # Not ./spark-warehouse in the user's directory.
    conf.set("spark.sql.warehouse.dir", os.path.join(scratch, "warehouse"))
    # The workers run what the driver runs, wherever `python3` on the path may point.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", os.environ["PYSPARK_PYTHON"])
    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        require_java()
        _launch(conf, Path(scratch, "spark.log"))
    context = SparkContext.getOrCreate(conf)
    context.setLogLevel("ERROR")
    share_packages(context)
    return SparkSession(context)


def _launch(conf: object, log: Path) -> None:
    """Start the JVM with its stderr in a file: the launcher's and log4j's remarks on starting can't be turned off
    by configuration, and whatever goes wrong reaches Python as an exception."""
    from pyspark import SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    with log.open("wb") as sink:
        try:
            gateway = launch_gateway(conf, {"stderr": sink, "stdout": subprocess.DEVNULL})
        except PySparkRuntimeError as error:
            lines = log.read_text(errors="replace").strip().splitlines()
            reason = lines[-1] if lines else str(error)
            raise Error(f"Spark's JVM didn't start: {reason} (all of it: {log})") from error
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)


def share_packages(context: SparkContext) -> None:
    """Let Python workers import what the driver imports, also from a checkout that isn't installed."""
    root = str(Path(circuits.__file__).parents[1])
    known = context.environment.get("PYTHONPATH", "")
    if root not in known.split(os.pathsep):
        context.environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, known]))
