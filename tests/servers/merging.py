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
    try:
        rows = spark.sql(json.loads(line))
        answer = [rows.columns, [repr(tuple(row)) for row in rows.collect()]]
    except Exception as error:
        answer = str(error)
    print(json.dumps(answer), flush=True)
"""
# the command's own `main`, whose import takes longer than what it sends
_COMMAND = """
import contextlib, io, json, sys, traceback
from pyspark.pipelines.cli import main
sys.dont_write_bytecode = True  # which knows a module by its size and the second it is from
for line in sys.stdin:
    said, status = io.StringIO(), 0
    sys.argv = ["spark-pipelines", *json.loads(line)]
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as end:
            status = end.code
        except BaseException:
            status = 1
            traceback.print_exc()
    print(json.dumps([status, said.getvalue()]), flush=True)
"""


@dataclass
class Server:
    """process: of the server. command: of `spark-pipelines`."""

    process: subprocess.Popen[str]
    command: subprocess.Popen[str]

    def ask(self, statement: str) -> tuple[list[str], list[str]]:
        """The columns and the rows, each spelled, sorted. Raises AssertionError with what Spark says."""
        answer = _asked(self.process, statement)
        assert not isinstance(answer, str), answer
        columns, rows = answer
        return columns, sorted(rows)

    def run(self, spec: Path, *options: str) -> tuple[int, str]:
        """`spark-pipelines run` with this server in place of its own: its status, and what it says."""
        status, said = _asked(self.command, ["run", "--spec", str(spec), *options])
        return int(status), str(said)


def _asked(process: subprocess.Popen[str], what: Any) -> Any:
    assert process.stdin is not None
    process.stdin.write(json.dumps(what) + "\n")
    process.stdin.flush()
    return _answer(process)


def _answer(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the server has ended"
    return json.loads(line)


@contextmanager
def _started(text: str, *arguments: str, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process of that text."""
    process = subprocess.Popen(
        [sys.executable, "-c", text, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        **options,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


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
    with _started(_SERVER, json.dumps(settings), env=environment, cwd=folder) as process:
        remote = f"sc://127.0.0.1:{_answer(process)}"
        with _started(_COMMAND, env={**os.environ, "SPARK_REMOTE": remote}) as command:
            yield Server(process, command)


def _compile(gateway: Any, jars: list[str], folder: Path) -> None:
    """The catalogue's class, into the folder."""
    compiler = compiled(gateway, jars, _CLASS)
    for name, code in compiler.getBytecodes().items():
        (folder / f"{name}.class").write_bytes(bytes(code))
