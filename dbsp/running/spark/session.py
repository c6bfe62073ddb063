"""The Spark session in which steps run: made for short jobs, quiet on a terminal, local on loopback only."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
import threading
import warnings
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from dbsp.circuits.errors import Error
from dbsp.running.spark.settings import Settings
from dbsp.sql.catalyst import launch_quietly, other_meaning, require_java, running_session

OPTIONS = {
    # Loopback sockets wait 40 ms for a delayed ACK in every task: 130 ms a job against 35 ms.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.worker.reuse": "true",
    "spark.ui.showConsoleProgress": "false",
    # A result must not depend on where it was computed.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Sources and sinks have columns of TIME only where it is switched on.
    "spark.sql.timeType.enabled": "true",
    # The default starts a process, `readlink`, for each file of a checkpoint on a local disk, forty a batch:
    # 140 ms of a batch of 480 ms. This one is as safe where a directory has one writer.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # Nobody looks at more of a streaming query's past.
    "spark.sql.streaming.numRecentProgressUpdates": "4",
}

# Of a session whose tasks run in its own process: nobody else needs to reach it. Executors do.
LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}

_NONE = Settings()

# which say where a store is, and with which keys
STORE_VARIABLES = ("AWS_", "AZURE_", "GOOGLE_", "DBSP_CACHE", "DBSP_WEBHDFS", "HADOOP_USER_NAME")


def session(
    name: str = "dbsp", cores: int | None = None, ui: bool = False, settings: Settings = _NONE
) -> SparkSession:
    """The session that there is, of any thread; else a new one, which lives as long as the process.

    cores: of the local master, default all; settings say another. Raises Error when there is no Java to run
    on, where a session runs already that has other settings, and for settings that change what queries mean.
    """
    if (other := other_meaning(settings.options().get)) is not None:
        raise Error(f"{other[0]}: here queries mean what they do with {other[1]}; leave it out")
    running = running_session()
    if running is None:
        return _start(name, cores or available_cores(), ui, settings)
    conf = running.sparkContext.getConf()
    for option, value in settings.options().items():
        if conf.get(option) != value:
            raise Error(f"a Spark session runs already, without {option} = {value}; stop it, or set it there")
    return running


def available_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(name: str, cores: int, ui: bool, settings: Settings) -> SparkSession:
    # PySpark warns of pandas 3, which takes no part in a step.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    scratch = tempfile.mkdtemp(prefix="dbsp-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    # a task whose worker died runs once more
    conf = SparkConf().setMaster(f"local[{cores},2]").setAppName(name).setAll(list(OPTIONS.items()))
    conf.set("spark.ui.enabled", str(ui).lower())
    if settings.is_local:
        conf.setAll([*LOOPBACK.items(), ("spark.sql.shuffle.partitions", str(cores))])
    # Not ./spark-warehouse in the user's directory.
    conf.set("spark.sql.warehouse.dir", os.path.join(scratch, "warehouse"))
    options = settings.options()
    conf.setAll(list(options.items()))
    # Workers run on what the driver runs on, wherever `python3` on the path may point.
    os.environ.setdefault("PYSPARK_PYTHON", options.get("spark.pyspark.python", sys.executable))
    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        require_java()
        launch_quietly(conf, Path(scratch, "spark.log"))
    before = signal.getsignal(signal.SIGINT)
    context = SparkContext.getOrCreate(conf)
    if before is not signal.default_int_handler and threading.current_thread() is threading.main_thread():
        signal.signal(
            signal.SIGINT, before
        )  # who has an answer to Ctrl-C keeps it; PySpark's is for the others
    context.setLogLevel("ERROR")
    # it would print a traceback when the JVM is killed; who uses the JVM next is told by an exception
    context._accumulatorServer.handle_error = _say_nothing
    return SparkSession(context)


def _say_nothing(*_: object) -> None:
    pass


def share_packages(context: SparkContext) -> None:
    """Let Python workers import what the driver imports, also from a checkout that isn't installed."""
    root = str(Path(__file__).parents[3])
    known = context.environment.get("PYTHONPATH", "")
    if root not in known.split(os.pathsep):
        context.environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, known]))


def share_keys(context: SparkContext) -> None:
    """Let Python workers find the store that the driver finds, and keep their copies where it says.

    Spark's own process may have been started with another environment. They travel with the tasks' functions,
    as safe as those.
    """
    for name, value in os.environ.items():
        if name.startswith(STORE_VARIABLES):
            context.environment[name] = value
