"""What Spark says of a failure, in one line."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

# Those that PySpark knows, and any other Java exception.
SparkFailure = (PySparkException, Py4JJavaError)


def first_line(error: Exception) -> str:
    """The message without the class of the error, SQLSTATE, plan and stack trace."""
    text = str(error.java_exception.getMessage()) if isinstance(error, Py4JJavaError) else str(error)
    lines = text.strip().splitlines()
    line = lines[0] if lines else type(error).__name__
    return re.sub(r"\s*SQLSTATE: \w+\s*$", "", line)
