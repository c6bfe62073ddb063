"""Flink beside us: its own environment runs `nexmark/flink.py` over CSV files of the same events."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from benchmarks.nexmark.generator import SCHEMAS, Generator
from benchmarks.suite import usage
from benchmarks.suite.measurement import Measurement
from benchmarks.suite.stepping import Subject

SCRIPT = Path(__file__).parents[1] / "nexmark" / "flink.py"
WARM = 100_000
PART = "Nexmark, Flink's jobs from CSV files"


def jobs(python: Path, queries: tuple[str, ...], events: int) -> Iterator[Measurement]:
    """python: an interpreter that has `apache-flink`."""
    with TemporaryDirectory(prefix="dbsp-bench-") as directory:
        data, warm = Path(directory, "data"), Path(directory, "warm")
        write(data, events)
        write(warm, WARM)
        for query in queries:
            command = [str(python), str(SCRIPT), str(data), str(warm), query]
            with usage.memory(children=True) as used:
                done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode:
                causes = [line for line in done.stderr.splitlines() if "Caused by" in line] or [done.stderr]
                raise SystemExit(f"Flink on {query}: {causes[-1]}")
            (seconds,) = json.loads(done.stdout.splitlines()[-1]).values()
            subject = Subject(PART, query, "Flink", events)
            yield subject.measured([seconds], peak=used.peak, mapped=used.mapped)


def write(out: Path, events: int) -> None:
    """The first so many events as CSV, a file a table and 100,000 events."""
    for table in SCHEMAS:
        (out / table).mkdir(parents=True)
    for number, first in enumerate(range(0, events, 100_000)):
        for table, rows in Generator().events(first, min(first + 100_000, events)).items():
            pyarrow.csv.write_csv(
                pa.Table.from_arrays([*map(_spelled, rows.columns)], rows.schema.names),
                out / table / f"part-{number:06d}.csv",
                pyarrow.csv.WriteOptions(include_header=False),
            )


def _spelled(column: pa.Array) -> pa.Array:
    """Times in milliseconds and without a zone, as Flink's CSV reads them."""
    if not pa.types.is_timestamp(column.type):
        return column
    return pc.strftime(
        pc.floor_temporal(column, unit="millisecond").cast(pa.timestamp("ms")), "%Y-%m-%d %H:%M:%S"
    )
