"""A batch that is on the disk until somebody looks into it."""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.narrow.column import Codes, Narrow
from dbsp.circuits.traces.batch import Batch


class StoredBatch(Batch):
    """A batch that is read when somebody first looks into it. Its length and ends are known before.

    first, last: its least and its greatest sort key. read: the batch itself. So a trace that a step has no
    key for is never verified, nor paged in.
    """

    def __init__(self, rows: int, first: int, last: int, read: Callable[[], Batch]) -> None:
        self.__dict__.update(_rows=rows, _read=read, first=first, last=last)

    def __len__(self) -> int:
        return int(self.__dict__["_rows"])

    @cached_property
    def _batch(self) -> Batch:
        return self.__dict__["_read"]()  # type: ignore[no-any-return]

    @cached_property
    def keys(self) -> np.ndarray:
        return self._batch.keys

    @property
    def rows(self) -> pa.RecordBatch:
        return self._batch.rows

    @property
    def weights(self) -> np.ndarray:
        return self._batch.weights

    @property
    def is_narrow(self) -> bool:
        return self._batch.is_narrow

    @property
    def whole(self) -> Batch:
        return self._batch.whole

    @property
    def schema(self) -> pa.Schema:
        return self._batch.schema

    def column(self, i: int) -> pa.Array:
        return self._batch.column(i)

    def stored_column(self, i: int) -> pa.Array | Narrow:
        return self._batch.stored_column(i)

    def rows_of(self, columns: Set[int]) -> pa.RecordBatch:
        return self._batch.rows_of(columns)

    def column_at(self, i: int, positions: np.ndarray) -> pa.Array:
        return self._batch.column_at(i, positions)

    def coded(self, i: int) -> Codes | None:
        return self._batch.coded(i)

    def weights_at(self, positions: np.ndarray) -> np.ndarray:
        return self._batch.weights_at(positions)

    def slice(self, start: int, stop: int) -> Batch:
        return self._batch.slice(start, stop)

    def take(self, positions: np.ndarray) -> Batch:
        return self._batch.take(positions)
