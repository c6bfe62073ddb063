"""How soon a small step is done: a hundred events through the auction site's views."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import dbsp
from benchmarks.nexmark.generate import write
from benchmarks.nexmark.generator import Generator
from benchmarks.suite.measurement import Measurement
from benchmarks.suite.stepping import Opened, Subject, insert, session, stepped
from dbsp.views.changes import Changes

PROGRAM = Path(__file__).parents[2] / "examples" / "auction" / "program.sql"
EVENTS = Generator(seed=1, rate=7_000, disorder=700)
SMALL, LOADED = 100, 300_000
WARM_UP = 40
PART = f"A step of {SMALL} events through the auction site's ten views"


def fed() -> str:
    """The program with tables that the caller feeds."""
    return re.sub(r"USING parquet OPTIONS \(.*?\) WITH", "WITH", PROGRAM.read_text())


def stepping(runner: str, steps: int) -> Iterator[Measurement]:
    """Over 300,000 events that are there."""
    spark = session() if runner == "spark" else None
    with Opened(fed(), runner, spark) as pipeline:
        for start in range(0, LOADED, 100_000):
            insert(pipeline, EVENTS.events(start, start + 100_000))
            pipeline.step()

        def queue(n: int) -> None:
            start = LOADED + n * SMALL
            insert(pipeline, EVENTS.events(start, start + SMALL))

        who = "dbsp, fed from Python, " + ("on Spark" if runner == "spark" else "in process")
        yield stepped(Subject(PART, "a step", who, SMALL), pipeline, queue, steps, WARM_UP)
    if spark is not None:
        spark.stop()


def from_files(steps: int) -> Iterator[Measurement]:
    """As `dbsp run` does it: a Parquet file a table and step, from one batch's end to the next one's."""
    started = session()
    with TemporaryDirectory(prefix="dbsp-bench-") as directory:
        data = Path(directory, "events")
        write(EVENTS, SMALL * (steps + WARM_UP), SMALL, data)
        ends: list[float] = []
        of_step: list[float] = []

        def made(changes: Changes) -> None:
            ends.append(time.perf_counter())
            of_step.append(changes.metrics.seconds)

        define, state = {"DATA": str(data)}, Path(directory, "state")
        with dbsp.Pipeline(PROGRAM, state=state, spark=started, define=define) as pipeline:
            pipeline.run(once=True, on_step=made)
    batches = [end - begin for begin, end in zip(ends[WARM_UP - 1 :], ends[WARM_UP:], strict=False)]
    yield Subject(PART, "a micro-batch from files", "`dbsp run`", SMALL).measured(batches)
    own = zip(batches, of_step[WARM_UP:], strict=True)
    yield Subject(PART, "a micro-batch from files", "of which the step", SMALL).measured(of_step[WARM_UP:])
    yield Subject(PART, "a micro-batch from files", "of which Structured Streaming", SMALL).measured(
        max(batch - step, 1e-6) for batch, step in own
    )
    started.stop()
