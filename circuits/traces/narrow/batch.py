"""Batches as segments hold them: of narrow columns, of which only what is asked for becomes plain.

A stored batch of many rows says itself how its columns are written, so that those of a trace needn't be
written alike: what was written plain is read as it is, and a log, whose sort keys are all 0, or a trace whose
weights are all 1, has no bytes of them.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, positions_of, take_values
from dbsp.circuits.columns.narrow.column import Codes, Narrow, narrow
from dbsp.circuits.traces.batch import Batch, plain_values
from dbsp.circuits.traces.layout import Layout

Column: TypeAlias = pa.Array | Narrow


class NarrowBatch(Batch):
    """Its rows and weights are made anew each time that they are asked for: who needs them all keeps them."""

    def __init__(self, schema: pa.Schema, keys: Column, columns: Sequence[Column], weights: Column) -> None:
        spread = None if isinstance(keys, Narrow) else fixed_values(keys)
        self.__dict__.update(_schema=schema, _stored=(keys, *columns, weights), _keys=spread)

    def __len__(self) -> int:
        return len(self._columns[0])

    @property
    def is_narrow(self) -> bool:
        return True

    @property
    def _columns(self) -> tuple[Column, ...]:
        """The sort keys, the rows' columns, the weights."""
        return self.__dict__["_stored"]  # type: ignore[no-any-return]

    @property
    def schema(self) -> pa.Schema:
        return self.__dict__["_schema"]

    @property
    def keys(self) -> np.ndarray:
        keys = self.__dict__["_keys"]
        return fixed_values(plain(self._columns[0])).view(np.uint64) if keys is None else keys

    @property
    def rows(self) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([*map(plain, self._columns[1:-1])], schema=self.schema)

    @property
    def weights(self) -> np.ndarray:
        return fixed_values(plain(self._columns[-1]))

    def column(self, i: int) -> pa.Array:
        return plain(self._columns[i + 1])

    def stored_column(self, i: int) -> Column:
        return self._columns[i + 1]

    def rows_of(self, columns: Set[int]) -> pa.RecordBatch:
        made = [
            self.column(i) if i in columns else pa.nulls(len(self), field.type)
            for i, field in enumerate(self.schema)
        ]
        return pa.RecordBatch.from_arrays(made, schema=self.schema)

    def column_at(self, i: int, positions: np.ndarray) -> pa.Array:
        return _at(self._columns[i + 1], positions)

    def coded(self, i: int) -> Codes | None:
        column = self._columns[i + 1]
        return column.coded if isinstance(column, Narrow) else super().coded(i)

    @cached_property
    def plain(self) -> list[np.ndarray | None]:
        return [None if isinstance(each, Narrow) else plain_values(each) for each in self._columns[1:]]

    def weights_at(self, positions: np.ndarray) -> np.ndarray:
        codes = self.coded(len(self.schema))
        assert codes is not None, "a weight is never NULL"
        return codes.at(positions)

    def slice(self, start: int, stop: int) -> Batch:
        keys, *columns, weights = (each.slice(start, stop - start) for each in self._columns)
        return NarrowBatch(self.schema, keys, columns, weights)

    def take(self, positions: np.ndarray) -> Batch:
        columns = [self.column_at(i, positions) for i in range(len(self.schema))]
        rows = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        return Batch(self.keys[positions], rows, self.weights_at(positions))

    @property
    def whole(self) -> Batch:
        return Batch(self.keys, self.rows, self.weights)


def from_stored(stored: pa.RecordBatch, layout: Layout) -> Batch:
    """A batch as `to_narrow` or `Batch.to_stored` has it, sharing its memory."""
    schema = layout.stored_schema
    if stored.schema is schema or stored.schema.equals(schema):
        return Batch.from_stored(stored, layout)
    keys, *columns, weights = (
        narrow(field, column, wanted.type)
        for field, column, wanted in zip(stored.schema, stored.columns, schema, strict=True)
    )
    return NarrowBatch(layout.schema, keys, columns, weights)


def plain(column: Column) -> pa.Array:
    """Its values."""
    return column.values() if isinstance(column, Narrow) else column


def _at(column: Column, positions: np.ndarray) -> pa.Array:
    if isinstance(column, Narrow):
        return column.at(positions)
    return take_values(column, positions_of(positions))
