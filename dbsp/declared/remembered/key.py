"""All that the reading of a project follows from, but for the catalogue: equal keys, equal readings.

the spec, the definitions, what modules in Python say, the settings, the directory that a run is started in,
the configuration and the environment of Spark, the machine's time zone, the versions, our own sources
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from dbsp.sql.text.source import Source, as_it_is

_VARIABLES = ("SPARK_", "PYSPARK_", "HADOOP_", "HIVE_", "YARN_", "JAVA_", "_JAVA_", "JDK_", "TZ")
_FOLDERS = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "HIVE_CONF_DIR")
_ZONES = ("/etc/localtime", "/etc/timezone")
# of what Spark and a module of a project say to each other, and to nobody else
_PASSING = (
    "PYSPARK_GATEWAY_PORT",
    "PYSPARK_GATEWAY_SECRET",
    "SPARK_CONNECT_MODE_ENABLED",
    "SPARK_AUTH_SOCKET",
)


def key_of(spec: Path, files: Iterable[Path], said: Iterable[str], options: dict[str, str]) -> Source:
    """files: the project's. said: a digest of each command of its modules. options: of the session."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_VARIABLES) and not name.startswith(_PASSING)
    }
    folders = [Path(environment[name]) for name in _FOLDERS if name in environment]
    if "SPARK_HOME" in environment:
        folders.append(Path(environment["SPARK_HOME"]) / "conf")
    parts = (
        *(str(spec.resolve()), os.getcwd(), sorted(options.items()), sorted(environment.items()), list(said)),
        [[str(file), _digest(file)] for file in (spec, *files)],
        [
            [str(file), _digest(file)]
            for folder in folders
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        ],
        [_digest(Path(zone)) for zone in _ZONES],
        sources(),
    )
    return as_it_is(json.dumps(parts), "a reading of a project")


def _digest(file: Path) -> str:
    """'' of one that isn't there."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


@cache
def sources() -> str:
    """Of the code that reads projects."""
    root = Path(__file__).parents[1]
    files = sorted(file for file in root.rglob("*") if file.suffix in (".py", ".java"))
    return hashlib.sha256(";".join(map(_digest, files)).encode()).hexdigest()
