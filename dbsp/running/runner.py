"""What a runner is asked to do. Where and how the tasks run is its own affair: the results are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.steps.state import TaskResult
from dbsp.circuits.steps.task import Input, Step
from dbsp.circuits.traces.segments import Segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, kw_only=True)
class Work:
    """One step of a circuit: every level, in every partition, and the merges that its state says are due."""

    circuit: Circuit
    step: Step
    inputs: Mapping[str, Sequence[Input]]
    segments: Segments


class Runner(Protocol):
    """partitions: how many suit it, unless the user says."""

    @property
    def partitions(self) -> int: ...

    def run(self, work: Work) -> list[TaskResult]:
        """The results of all tasks. Raises dbsp.circuits.errors.Error; the files written are then garbage."""

    def close(self) -> None:
        """Give back what the runner itself started."""


def runner_of(name: str, spark: SparkSession | None) -> Runner:
    """name: 'inline' or 'spark'."""
    runner: Runner
    if name == "inline":
        from dbsp.running.inline import InlineRunner  # noqa: PLC0415

        runner = InlineRunner()
    else:
        from dbsp.running.spark.runner import SparkRunner  # noqa: PLC0415  the inline runner must not pay for it

        runner = SparkRunner(spark)
    return runner
