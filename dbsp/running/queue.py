"""What waits for the next step, in the order in which it came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.progress.waterline import later
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.steps.task import Input
from dbsp.circuits.traces.zset import WEIGHT

_WEIGHT = pa.field(WEIGHT, pa.int64(), nullable=False)
Rows: TypeAlias = pa.RecordBatch | Chunk


@dataclass
class Queue:
    """parts: (table, rows); the last column of the rows is `__weight`. advances: of waterlines, by name.

    clock: of the machine, where it was read for these parts; None: it is read when the step is made.
    """

    parts: list[tuple[str, Rows]] = field(default_factory=list)
    advances: dict[str, pa.Scalar] = field(default_factory=dict)
    clock: datetime | None = None

    def add(self, table: str, parts: Sequence[Rows]) -> None:
        """All of them or, where an interrupt comes in between, none."""
        self.parts.extend([(table, rows) for rows in parts])

    def advance(self, waterline: str, value: pa.Scalar) -> None:
        """The greatest counts."""
        furthest = later(self.advances.get(waterline), value)
        assert furthest is not None
        self.advances[waterline] = furthest

    @property
    def is_empty(self) -> bool:
        return not self.advances and not self.rows

    @property
    def inputs(self) -> dict[str, list[Input]]:
        """Per table its parts, which know their places among all rows."""
        inputs: dict[str, list[Input]] = {}
        count = 0
        for table, rows in self.parts:
            inputs.setdefault(table, []).append(Input(count, rows))
            count += _size(rows)
        return inputs

    @property
    def rows(self) -> dict[str, int]:
        """How many rows wait, per table that has any."""
        sizes: dict[str, int] = {}
        for table, rows in self.parts:
            sizes[table] = sizes.get(table, 0) + _size(rows)
        return {table: size for table, size in sizes.items() if size}

    @property
    def segments(self) -> set[str]:
        """The files that hold rows which were staged."""
        return {rows.segment for _, rows in self.parts if isinstance(rows, Chunk)}


def weighted(rows: pa.RecordBatch, weights: np.ndarray) -> pa.RecordBatch:
    """weights: int64[n]."""
    return rows.append_column(_WEIGHT, int64_array(weights))


def _size(rows: Rows) -> int:
    return rows.rows if isinstance(rows, Chunk) else int(rows.num_rows)
