"""What waits for the next step, in the order in which it came."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.steps.task import Input
from dbsp.circuits.traces.segments import Chunk
from dbsp.circuits.traces.zset import WEIGHT

_WEIGHT = pa.field(WEIGHT, pa.int64(), nullable=False)


@dataclass
class Queue:
    """inputs: per table, batches or chunks whose last column is `__weight`. count: rows, of all tables."""

    inputs: dict[str, list[Input]] = field(default_factory=dict)
    count: int = 0

    def add(self, table: str, rows: pa.RecordBatch | Chunk, weights: np.ndarray | None) -> None:
        """weights: int64[n], or None where the rows have theirs already."""
        if weights is not None:
            assert isinstance(rows, pa.RecordBatch)
            rows = rows.append_column(_WEIGHT, int64_array(weights))
        self.inputs.setdefault(table, []).append(Input(self.count, rows))
        self.count += _rows(self.inputs[table][-1])

    @property
    def rows(self) -> dict[str, int]:
        """How many rows wait, per table that has any."""
        sizes = {table: sum(map(_rows, parts)) for table, parts in self.inputs.items()}
        return {table: rows for table, rows in sizes.items() if rows}

    @property
    def segments(self) -> set[str]:
        """The files that hold rows which were staged."""
        parts = [part.batch for parts in self.inputs.values() for part in parts]
        return {batch.segment for batch in parts if isinstance(batch, Chunk)}


def _rows(part: Input) -> int:
    return part.batch.rows if isinstance(part.batch, Chunk) else int(part.batch.num_rows)
