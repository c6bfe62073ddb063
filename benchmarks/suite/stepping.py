"""Steps of a pipeline, timed, and what they used."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

import dbsp
from benchmarks.suite import usage
from benchmarks.suite.measurement import Measurement
from dbsp.sql.plans.program import Program

Tables = Mapping[str, pa.RecordBatch]


@dataclass(frozen=True)
class Subject:
    """Of which part of the report, what is done, and by whom. events: of a step. at: where on a curve."""

    part: str
    what: str
    who: str
    events: int = 0
    at: float = 0.0

    def measured(self, seconds: Iterable[float], **found: Any) -> Measurement:
        return Measurement(
            self.part, self.what, self.who, tuple(seconds), events=self.events, at=self.at, **found
        )


def insert(pipeline: dbsp.Pipeline, tables: Tables) -> None:
    for table, rows in tables.items():
        if len(rows):
            pipeline.insert(table, rows)


def stepped(
    subject: Subject,
    pipeline: dbsp.Pipeline,
    queue: Callable[[int], None],
    steps: int,
    warm_up: int,
) -> Measurement:
    """queue(n): the input of step n, which isn't timed. steps: after those to warm up."""
    children = pipeline.runner.__class__.__name__ != "InlineRunner"
    seconds: list[float] = []
    spent = 0.0
    with usage.memory(children) as used:
        for n in range(warm_up + steps):
            queue(n)
            before, began = usage.cpu(children), time.perf_counter()
            pipeline.step()
            ended = time.perf_counter()
            if n >= warm_up:
                seconds.append(ended - began)
                spent += usage.cpu(children) - before
    return subject.measured(seconds, cpu=spent, peak=used.peak, mapped=used.mapped)


class Opened:
    """with Opened(text, "inline") as p: a pipeline with its state on disk and durable commits."""

    def __init__(self, program: str | Program, runner: str, spark: Any = None) -> None:
        self._given = {"sql": program} if isinstance(program, str) else {"program": program}
        self._runner, self._spark = runner, spark

    def __enter__(self) -> dbsp.Pipeline:
        self._directory = TemporaryDirectory(prefix="dbsp-bench-")
        state = Path(self._directory.name, "state")
        self._pipeline = dbsp.Pipeline(**self._given, state=state, runner=self._runner, spark=self._spark)
        return self._pipeline

    def __exit__(self, *_: object) -> None:
        self._pipeline.close()
        self._directory.cleanup()


def session() -> Any:
    """The Spark session that the product makes for itself."""
    from dbsp.running.spark.session import session as made  # noqa: PLC0415  a run without Spark starts no JVM

    started = made("dbsp benchmarks")
    started.conf.set("spark.sql.session.timeZone", "UTC")
    return started
