"""What sources and sinks ask of the pipeline whose tables they feed and whose changes they write."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from pyspark.sql import SparkSession

from dbsp.circuits.segments.chunk import Chunk
from dbsp.running.queue import Rows
from dbsp.running.runner import Runner
from dbsp.running.spark.runner import SparkRunner
from dbsp.running.spark.session import session
from dbsp.sql.plans.program import Program
from dbsp.state.store import Store
from dbsp.views.changes import Changes
from dbsp.views.view import Contents


class Fed(Protocol):
    """A pipeline, as `dbsp.pipeline.pipeline` has it."""

    program: Program
    store: Store
    runner: Runner
    turn: threading.RLock
    spark: SparkSession | None
    behind: Callable[[], dict[str, tuple[int, str]]]
    away: Callable[[], dict[str, str]]
    given: set[str]

    @property
    def last_step(self) -> int: ...

    @property
    def due(self) -> datetime | None: ...

    def change(self, table: str, rows: Chunk) -> None: ...

    def refuse(self, rows: Rows) -> None: ...

    def excuse(self, table: str) -> list[Chunk]: ...

    def advance(self, table: str, column: str, value: object) -> None: ...

    def view(self, view: str) -> Contents: ...

    def step(
        self, *, stream: str = "", batch: int | None = None, offsets: object = None, read: float = 0.0
    ) -> Changes: ...

    def finish(self) -> Changes | None: ...

    def hold(self, table: str, rows: Sequence[Rows]) -> None: ...

    @property
    def queued(self) -> dict[str, int]: ...

    def discard(self) -> None: ...

    def deliver(self) -> None: ...

    def redeliver(self) -> None: ...

    def committed(self, stream: str, batch: int) -> bool: ...


def spark_of(pipeline: Fed) -> SparkSession:
    """The session the pipeline's steps run in; for the inline runner the active one, or a new one."""
    return session_of(pipeline.runner, pipeline.spark)


def session_of(runner: Runner, spark: SparkSession | None) -> SparkSession:
    """The same of a runner, and of the session that the user has given."""
    if isinstance(runner, SparkRunner):
        return runner.session
    return spark if spark is not None else session()
