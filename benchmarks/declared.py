"""A project of declarative pipelines, refreshed by `dbsp pipeline run` and by `spark-pipelines run`.

    python -m benchmarks.declared SCALE [FRACTION ...]

Orders come with their line items, as files that are added to the sources. Both see the same files, each
with a catalogue and a state of its own, one after the other. Printed are seconds of a run, from its start to
its end as it says them, of the whole process, and of CPU in all processes of the command; bytes that it wrote
are those of the tables' files that came. After the last run all tables are compared.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
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
    """Seconds of the run, of its process, and of CPU; bytes of new files in the tables."""

    run: float
    process: float
    cpu: float
    wrote: int

    def __str__(self) -> str:
        return f"{self.run:.2f}, {self.process:.1f}, {self.cpu:.1f}, {self.wrote / 1e6:.2f}"


class Cpu(threading.Thread):
    """Seconds that the processes of a session take, which may be nobody's children: looked at as they run."""

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self.session, self.seen, self.ended = session, {}, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.05):
            for stat in Path("/proc").glob("[0-9]*/stat"):
                with suppress(OSError):
                    fields = stat.read_text().rpartition(")")[2].split()
                    if int(fields[3]) == self.session:
                        self.seen[stat.parent.name] = int(fields[11]) + int(fields[12])

    def seconds(self) -> float:
        self.ended.set()
        self.join()
        return sum(self.seen.values()) / os.sysconf("SC_CLK_TCK")


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
            cpu = Cpu(process.pid)
            cpu.start()
            said = []
            for line in process.stdout:
                said.append(line)
                for word in ("Starting run", "Run is COMPLETED"):
                    if word in line:
                        told[word] = time.perf_counter()
        if process.returncode or len(told) != 2:
            raise SystemExit("".join(said[-40:]))
        took = time.perf_counter() - began
        wrote = sum(path.stat().st_size for path in self._files() - before)
        return Ran(told["Run is COMPLETED"] - told["Starting run"], took, cpu.seconds(), wrote)

    def _files(self) -> set[Path]:
        return set((self.folder / "spark-warehouse" / "medallion.db").rglob("*.parquet"))

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
        + " | ".join(f"{side.name}: run, process, CPU (s), MB" for side in sides)
        + " | ratio of runs | of processes | of CPU |"
    )
    print("|" + " --- |" * (len(sides) + 5))
    for what, count in [
        ("first run", None),
        *((f"{fraction:.2%}", int(total * fraction)) for fraction in fractions),
    ]:
        rows = rows if count is None else sources.add(count)
        ran = [side.run() for side in sides]
        ours, theirs = ran
        ratios = (
            f"{theirs.run / ours.run:.1f} | {theirs.process / ours.process:.1f} | {theirs.cpu / ours.cpu:.1f}"
        )
        print(f"| {what} | {rows} | {' | '.join(map(str, ran))} | {ratios} |", flush=True)
    names = sorted(path.name for path in (sides[0].folder / "spark-warehouse" / "medallion.db").iterdir())
    differ = [name for name in names if sides[0].contents(name) != sides[1].contents(name)]
    print(f"{len(names)} tables are the same" if not differ else f"these differ: {', '.join(differ)}")
    shutil.rmtree(root)


if __name__ == "__main__":
    main(float(sys.argv[1]), [float(each) for each in sys.argv[2:]] or [0.0001, 0.001, 0.01, 0.1])
