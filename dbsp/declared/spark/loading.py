"""What functions in Python read by a path: `spark.read.parquet(path)`, `spark.readStream.json(path, schema)`.

Of one path and nothing else it is a table of that name, as in SQL: parquet.`/path`. With a schema, options or
several paths the name says what it stands for, while the project is read and whenever its rows are.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dbsp.circuits.errors import ProgramError
from dbsp.declared.logs.delta import DELTA
from dbsp.declared.project.datasets import Loaded, Table
from dbsp.sql.text.tokens import quoted

FILES = ("parquet", "json", "csv", "orc", "text")
_PATH, _PATHS = "path", "paths"
# of a stream of files: how many a batch has, and which first, while a run reads all there are
_PACED = (
    "maxfilespertrigger",
    "maxbytespertrigger",
    "latestfirst",
    "maxcachedfiles",
    "discardcachedinputratio",
)
# by which a stream would leave files out, or move them
_REFUSED = ("maxfileage", "filenameonly", "cleansource", "sourcearchivedir", "allowoverwrites")


def name_loaded(read: Any, loaded: dict[str, Loaded]) -> None:
    """Give what a Read loads by its path a name by which tables are read. Raises ProgramError."""
    if not read.HasField("data_source"):
        return
    said = read.data_source
    form = said.format or "parquet"
    options = {name: value for name, value in said.options.items() if name.lower() != _PATH}
    paths = [*said.paths, *(value for name, value in said.options.items() if name.lower() == _PATH)]
    if form.lower() == DELTA:
        if options or said.schema or len(paths) != 1:
            given = ", ".join(options) or ("a schema" if said.schema else "several paths, or none")
            raise ProgramError(
                f"not supported yet: a Delta table read with {given}; read the table as it is, by one path"
            )
        read.named_table.unparsed_identifier = quoted([DELTA, paths[0]])
        return
    if said.predicates:
        raise ProgramError("not supported yet: spark.read.jdbc with predicates; read it with its options")
    if read.is_streaming:
        options = _of_stream(form, options)
        if not said.schema:
            return  # Spark says that it wants one
    elif form.lower() in FILES and not options and not said.schema and len(paths) == 1 and "/" in paths[0]:
        read.named_table.unparsed_identifier = quoted([form.lower(), paths[0]])
        return
    found = Loaded(form, tuple(paths), str(said.schema), tuple(sorted(options.items())))
    digest = hashlib.sha256(repr(found).encode()).hexdigest()[:8]
    name = quoted(["spark_catalog", "loaded", f"{form} {', '.join(paths)} ({digest})".replace(".", "_")])
    loaded[name] = found
    read.named_table.unparsed_identifier = name


def _of_stream(form: str, options: dict[str, str]) -> dict[str, str]:
    """Those by which its rows are read. Raises ProgramError for what isn't read as a stream."""
    if form.lower() not in FILES:
        raise ProgramError(
            f"not supported yet: spark.readStream of the format '{form}'; what is read as a stream are files "
            f"({', '.join(FILES)}), and tables"
        )
    for name in options:
        if name.lower() in _REFUSED:
            raise ProgramError(
                f"not supported yet: spark.readStream with the option {name}; "
                "each file is read once, and stays"
            )
    return {name: value for name, value in options.items() if name.lower() not in _PACED}


def frame_of(spark: SparkSession, table: Table) -> DataFrame:
    """A table as Spark reads it now."""
    return spark.table(table.name) if table.loaded is None else load(spark, table.loaded)


def load(spark: SparkSession, loaded: Loaded) -> DataFrame:
    """The rows that are there now, of a stream, too."""
    reader = spark.read.format(loaded.format).options(**dict(loaded.options))
    if loaded.schema:
        given = loaded.schema
        reader = reader.schema(StructType.fromJson(json.loads(given)) if given.startswith("{") else given)
    return reader.load(list(loaded.paths)) if loaded.paths else reader.load()
