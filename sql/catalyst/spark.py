"""A Spark session to compile with, where the caller has none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from circuits.errors import Error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def require_java() -> None:
    """Raises Error, saying what to install, where Spark would find no Java."""
    home = os.environ.get("JAVA_HOME")
    if home and not os.access(os.path.join(home, "bin", "java"), os.X_OK):
        raise Error(f"no Java at JAVA_HOME={home}: there is no bin/java; point JAVA_HOME at Java 17 or later")
    if not home and shutil.which("java") is None:
        raise Error(
            "no Java found, which Spark needs: neither JAVA_HOME nor a 'java' on PATH; "
            "install Java 17 or later (Debian, Ubuntu: apt-get install openjdk-17-jre-headless)"
        )


@contextmanager
def compile_session() -> Iterator[SparkSession]:
    """The active session if there is one, else a small local one that is stopped afterwards."""
    require_java()
    from pyspark.sql import SparkSession  # noqa: PLC0415  a cache hit must not pay for the import

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    session = (
        SparkSession.builder.master("local[1]")
        .appName("dbsp compile")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    try:
        yield session
    finally:
        session.stop()
