"""A server of Spark Connect with a catalogue whose tables take MERGE, for what `spark-pipelines` itself does.

The tables are those that Spark's own tests have, in memory, one for all sessions of the server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.classes import compiled
from tests.servers.jars import merging
from tests.servers.missing import missing

CATALOG, DATABASE = "merging", "made"
# each session has a catalogue of its own, which knows the database all the same
_CLASS = """
import java.util.HashMap;
import java.util.Map;

public class Merging
    extends org.apache.spark.sql.connector.catalog.SharedTablesInMemoryRowLevelOperationTableCatalog {
  public boolean namespaceExists(String[] name) { return true; }
  public String[][] listNamespaces() { return new String[][] {{"made"}}; }
  public Map loadNamespaceMetadata(String[] name) { return new HashMap(); }
}
"""
_SERVER = """
import json, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
for name, value in json.loads(sys.argv[1]).items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
listening = getattr(spark._jvm.org.apache.spark.sql.connect.service, "SparkConnectService$")
print(getattr(listening, "MODULE$").localPort(), flush=True)
for line in sys.stdin:
    rows = spark.sql(json.loads(line))
    print(json.dumps([rows.columns, [repr(tuple(row)) for row in rows.collect()]]), flush=True)
"""


@dataclass
class Server:
    """remote: by which it is reached."""

    process: subprocess.Popen[str]
    remote: str

    def ask(self, statement: str) -> tuple[list[str], list[str]]:
        """The columns and the rows, each spelled, sorted."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(statement) + "\n")
        self.process.stdin.flush()
        columns, rows = self._answer()
        return columns, sorted(rows)

    def run(self, spec: Path) -> subprocess.CompletedProcess[str]:
        """`spark-pipelines run`, but that it reaches this server and starts none."""
        command = [sys.executable, "-m", "pyspark.pipelines.cli", "run", "--spec", str(spec)]
        environment = {**os.environ, "SPARK_REMOTE": self.remote}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        return json.loads(line)


@contextmanager
def server(spark: Any, folder: Path) -> Iterator[Server]:
    """spark: a session whose JVM has a compiler."""
    jars = merging()
    if not jars:
        missing("catalogue whose tables take MERGE")
    _compile(spark.sparkContext._gateway, jars, folder)
    settings = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": "0",
        f"spark.sql.catalog.{CATALOG}": "Merging",
        "spark.sql.shuffle.partitions": "1",
        # a merge's plan takes longer to compile than its few rows to pass through it
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    environment = {
        **os.environ,
        "SPARK_DIST_CLASSPATH": os.pathsep.join([*jars, str(folder)]),
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1",
    }
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, json.dumps(settings)],
        env=environment,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            started = Server(process, "")
            started.remote = f"sc://127.0.0.1:{started._answer()}"
            yield started
        finally:
            process.kill()


def _compile(gateway: Any, jars: list[str], folder: Path) -> None:
    """The catalogue's class, into the folder."""
    compiler = compiled(gateway, jars, _CLASS)
    for name, code in compiler.getBytecodes().items():
        (folder / f"{name}.class").write_bytes(bytes(code))
