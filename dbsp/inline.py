"""The runner without Spark: tasks one after the other in this process."""

from __future__ import annotations

from circuits.state import TaskResult
from circuits.step import run_step
from dbsp.runner import Work


class InlineRunner:
    partitions = 1

    def run(self, work: Work) -> list[TaskResult]:
        return run_step(
            work.circuit,
            work.state,
            work.inputs,
            work.segments,
            work.step,
            work.segment,
            work.partitions,
            work.clock,
            work.durable,
            work.ending,
        )

    def close(self) -> None:
        pass
