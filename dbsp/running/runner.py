"""What a runner is asked to do. Where and how the tasks run is its own affair: the results are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.state import TaskResult
from dbsp.circuits.steps.task import Input, Step


@dataclass(frozen=True, kw_only=True)
class Work:
    """One step of a circuit: every level, in every partition, and the merges that its state says are due.

    scanned: of a circuit that is run beside the state's own, and leaves its traces as they are, how many of
    their rows it reads; None: of a step of the state.
    """

    circuit: Circuit
    step: Step
    inputs: Mapping[str, Sequence[Input]]
    segments: Segments
    scanned: int | None = None


class Runner(Protocol):
    """partitions: how many suit it, unless the user says."""

    @property
    def partitions(self) -> int: ...

    def run(self, work: Work) -> list[TaskResult]:
        """The results of all tasks. Raises dbsp.circuits.errors.Error; the files written are then garbage."""

    def close(self) -> None:
        """Give back what the runner itself started."""
