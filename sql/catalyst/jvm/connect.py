"""Spark Connect, which is refused: a client has no JVM, which compiles programs and drives steps."""

from __future__ import annotations

import os

from dbsp.circuits.errors import Error

# by which PySpark makes clients of Spark Connect only
_VARIABLES = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
_CURE = (
    "dbsp needs Spark's driver in this process, which compiles programs and runs the tasks of steps: make a "
    "classic session, SparkSession.builder.master(...).getOrCreate(), in a process without remote(...) and "
    "SPARK_REMOTE"
)


def is_classic(session: object) -> bool:
    """Whether a session has a JVM."""
    return hasattr(session, "_jsparkSession")


def check_classic(session: object) -> None:
    """Raises Error."""
    if not is_classic(session):
        raise Error(f"the session is one of Spark Connect, or no Spark session at all, and {_CURE}")


def check_mode() -> None:
    """Raises Error where PySpark would make no classic session in this process."""
    found = [name for name in _VARIABLES if os.environ.get(name)]
    if found:
        raise Error(f"Spark Connect is on in this process ({found[0]}), and {_CURE}")
