"""What a task of a step is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa

from dbsp.circuits.steps.state import State
from dbsp.circuits.traces.segments import Chunk
from dbsp.circuits.traces.spine import Piece


@dataclass(frozen=True)
class Input:
    """Part of a table's delta: the table's columns and a last column `__weight`.

    ordinal: of its first row, among the rows of all of the step's inputs. batch: the rows, or the chunk that
    holds them.
    """

    ordinal: int
    batch: pa.RecordBatch | Chunk


@dataclass(frozen=True)
class Task:
    """step: from 1. segment: base name of the files it may write. levels: consecutive.

    received: (node, blob) that tasks of the level before sent to this partition. pieces: merge work.
    ending: no input will follow, so what is pending is emitted.
    """

    step: int
    clock: datetime | None
    levels: range
    partition: int
    partitions: int
    state: State
    segment: str
    inputs: Mapping[str, Sequence[Input]] = field(default_factory=dict)
    received: Sequence[tuple[int, bytes]] = ()
    pieces: Sequence[Piece] = ()
    durable: bool = True
    ending: bool = False

    @property
    def bounds(self) -> tuple[int, int]:
        """The sort keys of the partition: low <= key < high."""
        return partition_start(self.partition, self.partitions), partition_start(
            self.partition + 1, self.partitions
        )


def partition_start(partition: int, partitions: int) -> int:
    """The least sort key whose high half h has ⌊h · partitions / 2³²⌋ >= partition."""
    return -(-(partition << 32) // partitions) << 32
