"""Where Java and Spark's jars are on this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from dbsp.circuits.errors import Error


def java_path() -> str | None:
    """The Java that Spark starts: of $JAVA_HOME, else on the path; None where there is none."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    return java if java is not None and os.access(java, os.X_OK) else None


def jars() -> Path:
    """The folder of Spark's jars: of $SPARK_HOME, else of the package. Raises Error."""
    home = os.environ.get("SPARK_HOME")
    package = importlib.util.find_spec("pyspark")
    places = [Path(home)] if home else []
    places += [Path(place) for place in (package.submodule_search_locations or [])] if package else []
    for place in places:
        if (place / "jars").is_dir():
            return place / "jars"
    raise Error("a function that Spark evaluates needs Spark's jars here: set SPARK_HOME")
