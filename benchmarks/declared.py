"""A project of declarative pipelines, refreshed by `dbsp pipeline run` and by `spark-pipelines run`.

    python -m benchmarks.declared SCALE [FRACTION ...]

Orders come with their line items, as files that are added to the sources. Both see the same files, each
with a catalogue and a state of its own, one after the other. Printed are seconds of a run, from its start to
its end as it says them, and of the whole process; after the last run all tables are compared.
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

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.tpch.data import KEYS, tables

PROJECT = Path(__file__).parents[1] / "examples" / "medallion"
BIN = Path(sys.executable).parent
HIVE = ["--conf", "spark.sql.catalogImplementation=hive"]
COMMANDS = {
    "dbsp": [str(BIN / "dbsp"), "pipeline", "run", *HIVE],
    "spark-pipelines": [str(BIN / "spark-pipelines"), "run", *HIVE],
}
_CATALOGUE = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false") \\
    .config("spark.sql.catalogImplementation", "hive").getOrCreate()
spark.sql("CREATE DATABASE tpch")
spark.sql("CREATE DATABASE medallion")
for name in sys.argv[2:]:
    spark.sql(f"CREATE TABLE tpch.{name} USING parquet LOCATION '{sys.argv[1]}/{name}'")
"""


@dataclass(frozen=True)
class Ran:
    """Seconds of the run, and of its process."""

    run: float
    process: float


@dataclass
class Side:
    """A command, in a directory of its own."""

    name: str
    folder: Path

    def prepare(self, data: Path) -> None:
        """The project, and a catalogue of its sources."""
        shutil.copytree(PROJECT, self.folder)
        spec = self.folder / "spark-pipeline.yml"
        spec.write_text(spec.read_text().replace("pipeline-storage", f"file://{self.folder}/storage"))
        self._process([sys.executable, "-c", _CATALOGUE, str(data), *KEYS])

    def run(self) -> Ran:
        """Raises CalledProcessError."""
        began, told = time.perf_counter(), {}
        with subprocess.Popen(
            COMMANDS[self.name],
            cwd=self.folder,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            said = []
            for line in process.stdout:
                said.append(line)
                for word in ("Starting run", "Run is COMPLETED"):
                    if word in line:
                        told[word] = time.perf_counter()
        if process.returncode or len(told) != 2:
            raise SystemExit("".join(said[-40:]))
        return Ran(told["Run is COMPLETED"] - told["Starting run"], time.perf_counter() - began)

    def contents(self, name: str) -> list[str]:
        """The rows of a table's files, sorted."""
        folder = self.folder / "spark-warehouse" / "medallion.db" / name
        table = pq.read_table(folder, partitioning="hive")
        rows = table.select(sorted(table.column_names)).to_pylist()
        return sorted(repr([str(value) for value in row.values()]) for row in rows)

    def _process(self, command: list[str]) -> None:
        subprocess.run(command, cwd=self.folder, env=_environment(), check=True, capture_output=True)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONUNBUFFERED": "1", "PYSPARK_PYTHON": sys.executable}


@dataclass
class Sources:
    """Directories of files, to which orders are added."""

    folder: Path
    made: dict[str, pa.Table]
    given: int = 0
    files: int = 0

    def add(self, count: int) -> int:
        """So many orders more, and their line items; returns how many rows that is."""
        orders = self.made["orders"].slice(self.given, count)
        self.given += count
        items = self.made["lineitem"]
        items = items.filter(pc.is_in(items["l_orderkey"], orders["o_orderkey"]))
        self.write("orders", orders)
        self.write("lineitem", items)
        return len(orders) + len(items)

    def write(self, name: str, rows: pa.Table) -> None:
        """One file more."""
        self.files += 1
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, self.folder / name / f"part-{self.files:04}.parquet")


def main(scale: float, fractions: list[float]) -> None:
    """Prints a table, as Markdown."""
    root = Path(tempfile.mkdtemp(prefix="declared-"))
    made = tables(Path("build") / "tpch" / f"{scale:g}", scale)
    order = np.random.default_rng(1).permutation(len(made["orders"]))
    made["orders"] = made["orders"].take(pa.array(order))
    sources = Sources(root / "data", made)
    total = len(made["orders"])
    for name in KEYS.keys() - {"orders", "lineitem"}:
        sources.write(name, made[name])
    sides = [Side(name, root / name) for name in COMMANDS]
    rows = sources.add(total - sum(int(total * fraction) for fraction in fractions))
    for side in sides:
        side.prepare(sources.folder)
    print(
        "| what | rows | "
        + " | ".join(f"{side.name}: run, process (s)" for side in sides)
        + " | ratio of runs |"
    )
    print("|" + " --- |" * (len(sides) + 3))
    for what, count in [
        ("first run", None),
        *((f"{fraction:.2%}", int(total * fraction)) for fraction in fractions),
    ]:
        rows = rows if count is None else sources.add(count)
        ran = [side.run() for side in sides]
        cells = " | ".join(f"{each.run:.2f}, {each.process:.1f}" for each in ran)
        print(f"| {what} | {rows} | {cells} | {ran[1].run / ran[0].run:.2f} |", flush=True)
    names = sorted(path.name for path in (sides[0].folder / "spark-warehouse" / "medallion.db").iterdir())
    differ = [name for name in names if sides[0].contents(name) != sides[1].contents(name)]
    print(f"{len(names)} tables are the same" if not differ else f"these differ: {', '.join(differ)}")
    shutil.rmtree(root)


if __name__ == "__main__":
    main(float(sys.argv[1]), [float(each) for each in sys.argv[2:]] or [0.0001, 0.001, 0.01, 0.1])
