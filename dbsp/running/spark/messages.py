"""What Spark says of a failure, in one line."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

_OF_CSV_HEADER = re.compile(r"(Header|Schema)( length)?:|Expected:")
# Those that PySpark knows, and any other Java exception.
SparkFailure = (PySparkException, Py4JJavaError)


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
    line, *more = [*map(str.strip, text.strip().splitlines()), "Spark failed and said nothing"]
    if "CSV header" in line:  # what it is, and what it should be
        line = " ".join([line, *(each for each in more if _OF_CSV_HEADER.match(each))])
    line = re.sub(r"^\[STREAM_FAILED\] .*? terminated with exception: ", "", line)
    return re.sub(r"\s*SQLSTATE: \w+\s*$", "", line)
