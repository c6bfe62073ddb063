"""A project of declarative pipelines, refreshed by `dbsp pipeline run` and by `spark-pipelines run`.

    python -m benchmarks.declared SCALE [FRACTION ...]

The project is `examples/medallion` over Delta tables, with two targets of AUTO CDC (one of type 2) and what
is made of them: 19 datasets. Orders come with their line items, customers and suppliers have changes, parts
are merged. Spark's last release can't read Delta, so its side has the very files of each version in a
directory, and queries in place of AUTO CDC. Each side has a catalogue and a state of its own, one runs after
the other.

Printed are seconds of a run, from its start to its end as it says them, of the whole process, and of CPU in
all processes of the command; megabytes that came in the tables' files, and that all processes have read and
written, from and to whatever; gigabytes of memory that its processes held at most, what they share counted in
each. After the last run all tables are compared, by DuckDB, which goes to the disk where they are large.
TPC-H's rows lie in mapped files, so that the commands have the memory.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.declared.processes import Taken
from benchmarks.declared.sources import CHANGES, Sources
from benchmarks.tpch.data import tables

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
NAMES = ("region", "nation", "supplier", "customer", "part", "orders", "lineitem", *CHANGES)
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


def same(ours: list[str], theirs: list[str], scratch: Path) -> bool:
    """Whether files of two tables have the same rows, but for what only AUTO CDC keeps."""
    with duckdb.connect(config={"memory_limit": "4GB", "temp_directory": str(scratch)}) as asked:
        selected = []
        for files in (ours, theirs):
            rows = f"read_parquet({files!r}, union_by_name=true, hive_partitioning=true)"
            names = sorted(row[0] for row in asked.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall())
            shown = [f'"{name}"' for name in names if not name.startswith("__spark_autocdc")]
            selected.append(f"SELECT {', '.join(shown)} FROM {rows}")
        if len({query.partition(" FROM ")[0] for query in selected}) != 1:
            return False
        one, other = selected
        differs = f"({one} EXCEPT ALL {other}) UNION ALL ({other} EXCEPT ALL {one}) LIMIT 1"
        return not asked.execute(differs).fetchall()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONUNBUFFERED": "1", "PYSPARK_PYTHON": sys.executable}


def mapped(folder: Path, name: str, table: pa.Table) -> pa.Table:
    """The same rows in a file of that folder, of which only what is read is in memory."""
    with (
        pa.OSFile(str(folder / f"{name}.arrow"), "wb") as file,
        pa.ipc.new_file(file, table.schema) as writer,
    ):
        writer.write_table(table, max_chunksize=1 << 16)
    return pa.ipc.open_file(pa.memory_map(str(folder / f"{name}.arrow"))).read_all()


def main(scale: float, fractions: list[float]) -> None:
    """Prints a table, as Markdown."""
    root = Path(tempfile.mkdtemp(prefix="declared-"))
    made = tables(Path("build") / "tpch" / f"{scale:g}", scale)
    order = np.random.default_rng(1).permutation(len(made["orders"]))
    made["orders"] = made["orders"].take(pa.array(order))
    total = len(made["orders"])
    sources = Sources(
        root / "data", {name: mapped(root, name, made.pop(name)) for name in NAMES if name in made}
    )
    del made
    sides = [Side(name, root / name) for name in COMMANDS]
    rows = sources.create(total - sum(int(total * fraction) for fraction in fractions))
    for side in sides:
        side.prepare(sources.folder)
    told = "run, process, CPU (s); came / read / written (MB); held (GB)"
    heads = ("what", "rows", *(f"{side.name}: {told}" for side in sides))
    print(f"| {' | '.join(heads)} | ratio of runs | of processes | of CPU |")
    print("|" + " --- |" * (len(heads) + 3))
    for what in ["first run", *fractions]:
        if isinstance(what, float):
            rows = sources.add(what)
        ours, theirs = (side.run() for side in sides)
        ratios = (theirs.run / ours.run, theirs.process / ours.process, theirs.cpu / ours.cpu)
        named = what if isinstance(what, str) else f"{what:.2%}"
        print(
            f"| {named} | {rows} | {ours} | {theirs} | {' | '.join(f'{r:.1f}' for r in ratios)} |", flush=True
        )
    names = sorted(set.union(*(side.names() for side in sides)))
    differ = [name for name in names if not same(*(side.files(name) for side in sides), root / "scratch")]
    print(f"{len(names)} tables are the same" if not differ else f"these differ: {', '.join(differ)}")
    shutil.rmtree(root)


if __name__ == "__main__":
    main(float(sys.argv[1]), [float(each) for each in sys.argv[2:]] or [0.0001, 0.001, 0.01, 0.1])
