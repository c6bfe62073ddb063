"""What a Spark task does: some levels of a step for one partition, in a Python worker.

Workers are reused from step to step. A worker gets the circuit once, as a broadcast; the manifest of the
state comes with every task; a segment stays mapped while some task's manifest refers to it.

Between stages travel records (partition, message): a `Blob` for the next level, or an `Outcome`, which is
handed on to the last stage, where the driver collects it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pyspark import Broadcast, TaskContext

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import Error
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.state import TaskResult
from dbsp.circuits.steps.step import run_task
from dbsp.circuits.steps.task import Input, Step, Task
from dbsp.circuits.traces.spine import Piece
from dbsp.state.opening import segments_at


@dataclass(frozen=True)
class Blob:
    """Rows that the task of partition `source` sends to node `node` of the next level."""

    source: int
    node: int
    rows: bytes


@dataclass(frozen=True)
class Outcome:
    """What a task returned. An Error is data: as an exception it would be retried, and wrapped in Spark's."""

    level: int
    partition: int
    result: TaskResult | Error


Record = tuple[int, Blob | Outcome]


@dataclass(frozen=True)
class Share:
    """What one task of the first stage is given. merge_only: it has no partition, only pieces."""

    inputs: Mapping[str, Sequence[Input]]
    pieces: Sequence[Piece]
    merge_only: bool = False


@dataclass(frozen=True)
class Shared:
    """What all tasks of a step are given. place, verify: see `Segments`.

    beside: the state is of a few traces only; a worker keeps what it has opened of the others.
    """

    circuit: Broadcast[Circuit]
    place: str
    verify: bool
    step: Step
    beside: bool = False

    def run(self, levels: range, partition: int, share: Share, received: Sequence[Blob]) -> Iterator[Record]:
        """The task's outcome and blobs. An error stops here the tasks that would need its blobs."""
        segments = _segments(self.place, self.verify)
        if not self.beside:
            segments.keep(self.step.state.segments())
        ordered = sorted(received, key=lambda blob: (blob.node, blob.source))
        task = Task(
            step=self.step,
            levels=levels,
            segment=f"{self.step.segment}-{levels.start}-{partition}-{_attempt()}",
            partition=0 if share.merge_only else partition,
            inputs=share.inputs,
            received=[(blob.node, blob.rows) for blob in ordered],
            pieces=share.pieces,
        )
        try:
            before = segments.traffic
            result = run_task(self.circuit.value, task, segments)
            # not those of a task before, which may have failed
            segments.settle(result.segments)
            result.traffic = segments.traffic - before
        except Error as error:
            yield partition, Outcome(levels.start, partition, error.with_traceback(None))
            return
        for node, to, rows in result.sent:
            yield to, Blob(partition, node, rows)
        result.sent = []
        yield min(partition, self.step.partitions - 1), Outcome(levels.start, partition, result)


@dataclass(frozen=True)
class FirstStage:
    """The partition function of the first stage: levels from 0, inputs from the closure."""

    shared: Shared
    levels: range
    shares: Sequence[Share]

    def __call__(self, index: int, records: Iterable[object]) -> Iterator[Record]:
        for _ in records:  # a worker whose input was left unread is not used again
            pass
        share = self.shares[index]
        return self.shared.run(range(0) if share.merge_only else self.levels, index, share, ())


@dataclass(frozen=True)
class NextStage:
    """The partition function of a later stage: one level, inputs through the shuffle."""

    shared: Shared
    level: int

    def __call__(self, index: int, records: Iterable[Record]) -> Iterator[Record]:
        blobs: list[Blob] = []
        failed = False
        for to, message in records:
            if isinstance(message, Blob):
                blobs.append(message)
            else:
                failed |= isinstance(message.result, Error)
                yield to, message
        if not failed:
            yield from self.shared.run(range(self.level, self.level + 1), index, Share({}, ()), blobs)


@lru_cache(maxsize=8)
def _segments(place: str, verify: bool) -> Segments:
    return segments_at(place, verify)


def _attempt() -> int:
    """A number that no other attempt at any task of this Spark application has."""
    context = TaskContext.get()
    assert context is not None
    return int(context.taskAttemptId())
