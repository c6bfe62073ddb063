"""A Spark session to compile with, where the caller has none: quiet, local, gone afterwards."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbsp.circuits.errors import Error
from dbsp.circuits.functions.spark.class_archive import class_archive
from dbsp.circuits.functions.spark.class_recording import Listed
from dbsp.sql.catalyst.jvm.connect import check_classic, check_mode
from dbsp.sql.catalyst.jvm.java import require_java

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

_OF_THE_JVM = "spark.driver.extraJavaOptions"
_OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    # A JVM that lives for one program starts and compiles it in 6 s of CPU time this way instead of 14 s.
    _OF_THE_JVM: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


# Held while a session of ours is there to compile with: another thread must not take it for its user's.
_COMPILING = threading.Lock()


def running_session() -> SparkSession | None:
    """This thread's active session, else that of the process, which any thread may have started.

    Spark knows what is active per thread: a session is nobody's own only where there is no context at all.
    """
    from pyspark import SparkContext  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    active = _active_session()
    if active is not None or SparkContext._active_spark_context is None:
        return active
    return SparkSession.builder.getOrCreate()


def _active_session() -> SparkSession | None:
    from pyspark import SparkContext  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    if SparkContext._active_spark_context is None:
        check_mode()
    active = SparkSession.getActiveSession()
    if active is not None:
        check_classic(active)
    return active


@contextmanager
def compile_session() -> Iterator[SparkSession]:
    """The session that there is, which stays as it is; else a small one that is stopped afterwards."""
    # PySpark warns of pandas 3, which takes no part in compiling.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    theirs = _active_session()
    if theirs is None:
        with _COMPILING:
            theirs = running_session()
            if theirs is None:
                with _own_session() as ours:
                    yield ours
                return
    yield theirs


@contextmanager
def _own_session() -> Iterator[SparkSession]:
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="dbsp-") as scratch:
        conf = SparkConf().setMaster("local[1]").setAppName("dbsp compile").setAll(list(_OPTIONS.items()))
        conf.set("spark.sql.warehouse.dir", os.path.join(scratch, "warehouse"))
        ours = SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ
        listed = None
        if ours:
            require_java()
            listed = launch_quietly(conf, Path(scratch, "spark.log"), may_list=True)
        try:
            context = SparkContext(conf=conf)  # never one that somebody starts meanwhile: it is stopped
            context.setLogLevel("ERROR")
            session = SparkSession(context)
            try:
                yield session
            finally:
                session.stop()
        finally:
            if ours:
                _end_jvm(listed)


def launch_quietly(conf: SparkConf, log: Path, may_list: bool = False) -> Listed | None:
    """Start the JVM with its stderr in a file; what it lists of its classes is to be told when it has ended.

    No setting silences the launcher's and log4j's first remarks; whatever goes wrong reaches Python as an
    exception. Raises Error. A JVM that nobody waits for any more ends: it watches its standard input, but not
    before it is up, and PySpark forgets one that it was interrupted to wait for. may_list: see
    `class_archive`.
    """
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    started: Future[Any] = Future()
    archive = class_archive(may_list)
    # what it starts with besides is no setting of the session's, and what the user says of it comes last
    launched = SparkConf(loadDefaults=False).setAll(conf.getAll())
    if archive.options:
        launched.set(_OF_THE_JVM, " ".join([*archive.options, conf.get(_OF_THE_JVM, "")]))

    def launch() -> None:
        with log.open("wb") as sink:
            try:
                started.set_result(launch_gateway(launched, {"stderr": sink, "stdout": subprocess.DEVNULL}))
            except Exception as error:  # whatever it is, it is raised where the JVM is waited for
                started.set_exception(error)

    # a signal interrupts the main thread only, and a daemon doesn't keep the process
    threading.Thread(target=launch, name="dbsp-launch", daemon=True).start()
    try:
        _import_what_calls_take()
        gateway = started.result()
    except PySparkRuntimeError as error:
        lines = log.read_text(errors="replace").strip().splitlines()
        # of a package that isn't found the last line is the end of a stack trace
        thrown = [line.split(": ", 1)[-1] for line in lines if line.startswith("Exception in thread")]
        said = thrown[-1] if thrown else lines[-1] if lines else error
        raise Error(f"Spark's JVM didn't start: {said}") from error
    except BaseException:
        started.add_done_callback(_end_unwanted)
        raise
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)
    return archive.listed


def _import_what_calls_take() -> None:
    """PySpark asks of each argument of a call to the JVM whether it is NumPy's, and imports pandas to ask."""
    from pyspark.sql.types import NumpyScalarConverter  # noqa: PLC0415

    with suppress(ImportError):  # then its calls say so
        NumpyScalarConverter().can_convert(None)


def _end_unwanted(started: Future[Any]) -> None:
    if started.exception() is None:
        _end(started.result())


def _end_jvm(listed: Listed | None) -> None:
    """End the JVM that `launch_quietly` started: its settings are wrong for anything that runs longer."""
    from pyspark import SparkContext  # noqa: PLC0415

    gateway = SparkContext._gateway
    SparkContext._gateway = SparkContext._jvm = None
    class_path = _class_path(gateway) if listed else None
    _end(gateway)
    if listed and class_path:
        listed.ended(class_path)


def _class_path(gateway: Any) -> str | None:
    """None of one that has ended."""
    from py4j.protocol import Py4JError  # noqa: PLC0415

    try:
        return gateway.jvm.java.lang.System.getProperty("java.class.path")  # type: ignore[no-any-return]
    except Py4JError:
        return None


def _end(gateway: Any) -> None:
    gateway.shutdown()
    # it ends with its standard input
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(timeout=10)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
