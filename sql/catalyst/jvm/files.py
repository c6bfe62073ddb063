"""The columns and the rows of files, as Spark finds them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dbsp.circuits.errors import Error, did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def read_files(spark: SparkSession, path: str, format_: str, options: Mapping[str, str]) -> DataFrame:
    """What the files hold now, with columns of the types that their values allow. Raises Error.

    path: a file, a directory or a pattern, relative to the working directory, or a URI.
    """
    from py4j.protocol import Py4JJavaError  # noqa: PLC0415  pyspark is imported by now
    from pyspark.errors import PySparkException  # noqa: PLC0415

    if not _SCHEME.match(path):
        if not glob.glob(path):
            raise Error(f"there is no file '{path}'{did_you_mean(path, _beside(path))}")
        path = os.path.abspath(path)
    reader = spark.read.format(format_).options(**options)
    if format_ == "csv":
        reader = reader.option("inferSchema", "true")
    try:
        frame = reader.load(path)
    except (PySparkException, Py4JJavaError) as error:
        first = _message(error).strip().split("\n", 1)[0]
        said = re.sub(r"\s*SQLSTATE: \w+;*", "", first).rstrip(".; ")
        raise Error(f"Spark can't read '{path}': {said}") from None
    if not frame.columns:
        raise Error(f"'{path}' has no columns: it is empty")
    return frame


def _message(error: Exception) -> str:
    """Of a failure of the JVM that PySpark has no exception for, what its innermost cause says."""
    failure = getattr(error, "java_exception", None)
    if failure is None:
        return str(error)
    while failure.getCause() is not None:
        failure = failure.getCause()
    return str(failure.getMessage() or failure)


def column_definitions(frame: DataFrame) -> list[str]:
    """name TYPE of each column, as a CREATE TABLE lists them."""
    return [field.toDDL() for field in frame._jdf.schema().fields()]


def _beside(path: str) -> list[str]:
    """Files of the same directory, spelled as the path is."""
    directory = os.path.dirname(path)
    return [os.path.join(directory, one.name) for one in Path(directory or ".").glob("*")]
