"""What Spark says of a failure, in one line."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pyspark
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger

from dbsp.circuits.errors import Error, StateError

_OF_CSV_HEADER = re.compile(r"(Header|Schema)( length)?:|Expected:")
_CSV_CURE = (
    "; a header has the table's columns by name, in its order, with sep between them (OPTIONS enforceSchema "
    "'true' takes them by their places, whatever they are called)"
)
_OWN = re.compile(r"circuits\.errors\.(?:StateError|DamagedChunk): (.+)")
# what was raised in a Python worker, whose trace is all of Spark's message
_RAISED = re.compile(r"Python worker[\s\S]*circuits\.errors\.\w+: (.+)")
# Those that PySpark knows, and any other Java exception.
SparkFailure = (PySparkException, Py4JJavaError)


def foreseen(error: BaseException) -> Error | None:
    """What Spark, or a JVM that is no more, raised, as ours; None: it's of something else."""
    if isinstance(error, SparkFailure):
        return Error(f"Spark failed: {first_line(error)}")
    if isinstance(error, (Py4JNetworkError, ConnectionError)) or (
        isinstance(error, Py4JError) and not _answers()
    ):
        return Error(
            "Spark's JVM has ended (killed, or out of memory); a state directory is as its last committed "
            "step left it, so start again"
        )
    return None


def _answers() -> bool:
    """Whether there is a JVM. Py4J raises the same of one that has ended and of what one hasn't."""
    gateway = SparkContext._gateway
    if gateway is None:
        return False
    try:
        return int(gateway.jvm.System.nanoTime()) != 0
    except (Py4JError, OSError):
        return False


def log_of_queries() -> logging.Logger:
    """Where PySpark logs each query that fails, with its stack.

    Made as PySpark makes it: one that `logging` has made doesn't take what PySpark logs, and each query that
    fails after that would be a TypeError.
    """
    log: logging.Logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    return log


@contextmanager
def unlogged() -> Iterator[None]:
    """No query that fails meanwhile is logged."""
    log = log_of_queries()
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def worker_died(error: Exception) -> bool:
    """Whether a job failed because the process of a task ended: it can be tried again."""
    return isinstance(error, Py4JJavaError) and "Python worker exited unexpectedly" in first_line(error)


def own_error(error: Exception) -> StateError | None:
    """What a task found wrong with the state, where that is why Spark failed."""
    found = _OWN.findall(str(error))
    return StateError(found[-1]) if found else None


def first_line(error: Exception) -> str:
    """The message and its innermost cause, without SQLSTATE, plan and stack trace."""
    if not isinstance(error, Py4JJavaError):
        return _shortened(str(error))
    outer = inner = error.java_exception
    while inner.getCause() is not None:
        inner = inner.getCause()
    messages = [_shortened(str(failure.getMessage())) for failure in (outer, inner)]
    return " ".join(dict.fromkeys(messages))


def _shortened(text: str) -> str:
    if "[KAFKA_DATA_SOURCE_NOT_ENABLED]" in text:
        package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"
        return f"Spark has no connector for kafka; start it with one: --packages {package}"
    raised = _RAISED.search(text)
    if raised is not None:
        return raised[1]
    line, *more = [*map(str.strip, text.strip().splitlines()), "Spark failed and said nothing"]
    if "CSV header" in line:  # what it is, and what it should be
        line = " ".join([line, *(each for each in more if _OF_CSV_HEADER.match(each))]) + _CSV_CURE
    line = re.sub(r"^\[STREAM_FAILED\] .*? terminated with exception: ", "", line)
    return re.sub(r"\s*SQLSTATE: \w+\s*$", "", line)
