"""What a step is, and what each of its tasks is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import pyarrow as pa

from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.extent import Extent
from dbsp.circuits.steps.state import State
from dbsp.circuits.traces.spine import Piece


@dataclass(frozen=True)
class Input:
    """Part of a table's delta: the table's columns and a last column `__weight`.

    ordinal: of its first row, among the rows of all of the step's inputs. batch: the rows, or what says where
    they are stored.
    """

    ordinal: int
    batch: pa.RecordBatch | Chunk | Extent

    @property
    def is_stored(self) -> bool:
        return isinstance(self.batch, (Chunk, Extent))

    @property
    def rows(self) -> int:
        """How many there are, of a trace about how many."""
        return self.batch.rows if isinstance(self.batch, (Chunk, Extent)) else int(self.batch.num_rows)

    def open(self, segments: Segments, schema: pa.Schema, owner: str = "") -> pa.RecordBatch:
        """The rows. schema: of a chunk's. owner: of the rows, in words. Raises StateError."""
        if isinstance(self.batch, Extent):
            return self.batch.open(segments)
        return segments.open(self.batch, schema, owner) if isinstance(self.batch, Chunk) else self.batch


@dataclass(frozen=True, kw_only=True)
class Step:
    """What all tasks of a step know.

    number: from 1. state: before the step. segment: what the names of all files that it writes begin with; no
    other attempt at any step has the same. durable: whether those files are synced before they are named.
    ending: no input will follow, so what is pending is emitted. advances: where it moves waterlines to,
    without a row.
    """

    number: int
    state: State
    segment: str
    clock: datetime | None = None
    partitions: int = 1
    durable: bool = False
    ending: bool = False
    advances: Mapping[str, pa.Scalar] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Task:
    """Some levels of a step, for one partition.

    levels: consecutive. segment: what the names of the files begin with that it writes. received: (node,
    blob) that tasks of the level before sent to this partition. pieces: merge work.
    """

    step: Step
    levels: range
    segment: str
    partition: int = 0
    inputs: Mapping[str, Sequence[Input]] = field(default_factory=dict)
    received: Sequence[tuple[int, bytes]] = ()
    pieces: Sequence[Piece] = ()

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """The sort keys of the partition: low <= key < high."""
        partitions = self.step.partitions
        return partition_start(self.partition, partitions), partition_start(self.partition + 1, partitions)


def partition_start(partition: int, partitions: int) -> int:
    """The least sort key whose high half h has ⌊h · partitions / 2³²⌋ >= partition."""
    return -(-(partition << 32) // partitions) << 32
