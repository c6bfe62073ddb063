"""The two commands that refresh the project, and what a run of them takes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.declared.processes import Taken
from benchmarks.declared.sources import NAMES

PROJECT = Path(__file__).parents[2] / "examples" / "medallion"
DEFINITIONS = Path(__file__).parent / "definitions"
BIN = Path(sys.executable).parent
# a heap of one GB, Spark's default, is too small for scale 1
HIVE = ["--conf", "spark.sql.catalogImplementation=hive", "--conf", "spark.driver.memory=4g"]
COMMANDS = {
    "dbsp": [str(BIN / "dbsp"), "pipeline", "run", *HIVE],
    "spark-pipelines": [str(BIN / "spark-pipelines"), "run", *HIVE],
}
READ = {"dbsp": ("delta", "delta"), "spark-pipelines": ("files", "parquet")}
# An entry of Delta's is one of Parquet's under another name: without its jar Spark makes none.
_CATALOGUE = """
import sys
from pyspark.sql import SparkSession
folder, form, *names = sys.argv[1:]
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false") \\
    .config("spark.sql.catalogImplementation", "hive").getOrCreate()
spark.sql("CREATE DATABASE tpch")
spark.sql("CREATE DATABASE medallion")
jvm, known = spark._jvm, spark._jsparkSession.sessionState().catalog()
catalyst = jvm.org.apache.spark.sql.catalyst
for name in names:
    spark.sql(f"CREATE TABLE tpch.{name} USING parquet LOCATION '{folder}/{name}'")
    table = known.getTableMetadata(catalyst.TableIdentifier(name, jvm.scala.Some("tpch")))
    values = [table.productElement(i) for i in range(table.productArity())]
    values[[table.productElementName(i) for i in range(len(values))].index("provider")] = jvm.scala.Some(form)
    known.externalCatalog().alterTable(catalyst.catalog.CatalogTable(*values))
"""


@dataclass(frozen=True)
class Ran:
    """Seconds of the run, of its process, and of CPU; bytes of new files, read, written, and held at most."""

    run: float
    process: float
    cpu: float
    came: int
    read: int
    wrote: int
    held: int

    def __str__(self) -> str:
        moved = " / ".join(f"{size / 1e6:.1f}" for size in (self.came, self.read, self.wrote))
        return f"{self.run:.2f}, {self.process:.1f}, {self.cpu:.1f}; {moved}; {self.held / 1e9:.1f}"


@dataclass
class Side:
    """A command, in a directory of its own."""

    name: str
    folder: Path

    def prepare(self, data: Path) -> None:
        """The project, and a catalogue of its sources."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(PROJECT, self.folder)
        for name in ("both", self.name):
            shutil.copy(DEFINITIONS / f"{name}.sql", self.folder / "transformations" / f"changes_{name}.sql")
        spec = self.folder / "spark-pipeline.yml"
        spec.write_text(spec.read_text().replace("pipeline-storage", f"file://{self.folder}/storage"))
        kind, form = READ[self.name]
        command = [sys.executable, "-c", _CATALOGUE, str(data / kind), form, *NAMES]
        subprocess.run(command, cwd=self.folder, env=_environment(), check=True, capture_output=True)

    def run(self) -> Ran:
        """Raises SystemExit."""
        began, told, before = time.perf_counter(), {}, self._files()
        with subprocess.Popen(
            COMMANDS[self.name],
            cwd=self.folder,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            taken = Taken(process.pid)
            taken.start()
            said = []
            for line in process.stdout:
                said.append(line)
                for word in ("Starting run", "Run is COMPLETED"):
                    if word in line:
                        told[word] = time.perf_counter()
        taken.end()
        if process.returncode or len(told) != 2:
            raise SystemExit("".join(said[-40:]))
        took = time.perf_counter() - began
        came = sum(path.stat().st_size for path in self._files() - before)
        seconds = told["Run is COMPLETED"] - told["Starting run"]
        return Ran(seconds, took, taken.cpu, came, taken.read, taken.wrote, taken.held)

    @property
    def _made(self) -> Path:
        return self.folder / "spark-warehouse" / "medallion.db"

    def _files(self) -> set[Path]:
        return set(self._made.rglob("*.parquet"))

    def names(self) -> set[str]:
        """Of its tables."""
        return {path.name for path in self._made.iterdir()}

    def files(self, name: str) -> list[str]:
        """Of a table."""
        below = (path.relative_to(self._made / name) for path in (self._made / name).rglob("*.parquet"))
        shown = (path for path in below if not any(part.startswith(("_", ".")) for part in path.parts))
        return [str(self._made / name / path) for path in shown]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONUNBUFFERED": "1", "PYSPARK_PYTHON": sys.executable}
