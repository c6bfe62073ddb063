"""Rows of several batches, one after the other, of which only what is asked for is copied."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import positions_of, take_values


class Stacked:
    """What is read of the record batch that `arrow.concat(schema, parts)` is: few columns of many."""

    def __init__(self, schema: pa.Schema, parts: Sequence[pa.RecordBatch]) -> None:
        self.schema = schema
        self.num_rows = sum(part.num_rows for part in parts)
        self.num_columns = len(schema)
        self._parts = parts
        self._ends = np.cumsum([part.num_rows for part in parts])

    def column(self, i: int) -> pa.Array:
        """Of all rows."""
        return pa.concat_arrays([part.column(i) for part in self._parts])

    def at(self, i: int, positions: np.ndarray) -> pa.Array:
        """A column's values at these positions."""
        owner = self._ends.searchsorted(positions, "right")
        order = owner.argsort(kind="stable")
        starts = owner[order].searchsorted(np.arange(len(self._parts) + 1))
        found = [
            take_values(part.column(i), positions_of(positions[order[first:last]] - end + part.num_rows))
            for part, first, last, end in zip(self._parts, starts, starts[1:], self._ends, strict=False)
        ]
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        return take_values(pa.concat_arrays(found), positions_of(back))
