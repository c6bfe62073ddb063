"""An auction site, live: Nexmark events through Spark micro-batches, then checked against Spark SQL.

    make demo                                or   python -m benchmarks.demo --events 2000000

Generates the events as Parquet, runs `examples/auction/program.sql` over them step by step, and ends with a
summary: events per second, step times, state size, and whether every view equals what Spark SQL computes
for its query over the same files.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import dbsp
from benchmarks import recompute
from benchmarks.nexmark.generate import write
from benchmarks.nexmark.generator import SCHEMAS, Generator
from dbsp.commands.shown.display import display
from dbsp.running.metrics import Metrics
from dbsp.running.spark.session import session as spark_session
from dbsp.views.changes import Changes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = Path(__file__).parents[1] / "examples" / "auction" / "program.sql"

# Steps don't end where windows do, and events come up to 0.1 s late: windows are revised.
EVENTS = Generator(seed=1, rate=7_000, disorder=700)
WARM_UP = 2  # steps that also start Spark's Python workers; not in p50 and p95


@dataclass(frozen=True)
class Check:
    """One view against Spark SQL. seconds: of Spark's computation from scratch."""

    view: str
    rows: int
    differences: int
    seconds: float


def generate(console: Console, directory: Path, events: int, step: int) -> int:
    """Returns the number of steps."""
    with _progress(console) as bar:
        task = bar.add_task("generating events", total=events)
        return write(EVENTS, events, step, directory, lambda done: bar.update(task, completed=done))


def run(pipeline: dbsp.Pipeline, steps: int) -> list[Metrics]:
    """Step through all the files, with the live table of `dbsp run`."""
    done: list[Metrics] = []
    with display("live-table", pipeline, steps) as shown:

        def on_step(changes: Changes) -> None:
            done.append(changes.metrics)
            shown.step(changes)

        pipeline.run(once=True, on_step=on_step)
    return done


def check(console: Console, pipeline: dbsp.Pipeline, session: SparkSession, data: Path) -> list[Check]:
    """Every output view against its query, computed by Spark SQL over all the files."""
    tables = {table: session.read.parquet(str(data / table)) for table in SCHEMAS}
    queries = recompute.views(session, PROGRAM.read_text(), tables, {"DATA": str(data)})
    checks = []
    with _progress(console) as bar:
        task = bar.add_task("recomputing with Spark SQL", total=len(queries))
        for view, expected in queries.items():
            began = time.perf_counter()
            recompute.compute(expected)
            seconds = time.perf_counter() - began
            found = pipeline[view]
            differences = recompute.differences(found.to_spark(), expected)
            checks.append(Check(view, len(found), differences, seconds))
            bar.advance(task)
    return checks


def summary(
    console: Console, seconds: list[float], elapsed: float, events: int, state: int, checks: list[Check]
) -> None:
    """seconds: of each step; elapsed: from the first source file to the last commit."""
    views = Table(title="every view against Spark SQL over the same data")
    for column in ("view", "rows", "from scratch", ""):
        views.add_column(column, justify="left" if column in ("view", "") else "right")
    for c in checks:
        verdict = "equal" if not c.differences else f"{c.differences:,} rows differ"
        views.add_row(c.view, f"{c.rows:,}", f"{c.seconds:.2f} s", verdict)
    console.print(views)
    steady = seconds[WARM_UP:] or seconds
    p95 = quantiles(steady, n=20, method="inclusive")[-1] if len(steady) > 1 else steady[0]
    scratch = sum(c.seconds for c in checks)
    figures = Table.grid(padding=(0, 2))
    for name, value in (
        ("events", f"{events:,} in {len(seconds)} steps, {elapsed:.1f} s"),
        ("events/s", f"{events / elapsed:,.0f}, reading and committing included"),
        ("step", f"p50 {median(steady):.2f} s, p95 {p95:.2f} s"),
        ("state", f"{state / 1e6:,.0f} MB on disk"),
        ("last step", f"{seconds[-1]:.2f} s for all views"),
        ("from scratch", f"{scratch:.2f} s for the same views by Spark SQL ({scratch / seconds[-1]:.1f}×)"),
    ):
        figures.add_row(name, value)
    console.print(figures)


def _progress(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def main(arguments: list[str] | None = None, session: SparkSession | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demo", description=__doc__)
    parser.add_argument("--events", type=int, default=2_000_000, help="how many (default: %(default)s)")
    parser.add_argument("--step", type=int, default=100_000, help="events a step (default: %(default)s)")
    parser.add_argument(
        "--dir", type=Path, default=Path("data", "demo"), help="replaced at every run (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    console = Console()
    data, state = options.dir / "events", options.dir / "state"
    shutil.rmtree(options.dir, ignore_errors=True)
    steps = generate(console, data, options.events, options.step)
    console.print(f"{options.events:,} events in {steps} steps under {data}; starting Spark")
    session = session or spark_session("auction demo")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    define = {"DATA": str(data)}
    with dbsp.Pipeline(PROGRAM, state=state, spark=session, define=define) as pipeline:
        began = time.perf_counter()
        done = run(pipeline, steps)
        elapsed = time.perf_counter() - began
        checks = check(console, pipeline, session, data)
        size = sum(done[-1].state_bytes.values())
        summary(console, [step.seconds for step in done], elapsed, options.events, size, checks)
    return 1 if any(c.differences for c in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
