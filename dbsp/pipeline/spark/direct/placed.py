"""Rows of messages in the order of their offsets.

Tasks read parts of a partition, and Spark decodes what is left out: as they come they are in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.pipeline.spark.records import OF_MESSAGES, place_of
from dbsp.pipeline.spark.staging import Order, Reader
from dbsp.sql.plans.program import Table


@dataclass(frozen=True)
class Placed:
    """A `Reader` of rows that have where they lie beside them. reader: of the rows."""

    reader: Reader

    @property
    def table(self) -> Table:
        return self.reader.table

    def __call__(self, batch: pa.RecordBatch) -> Iterator[tuple[Order, pa.RecordBatch, np.ndarray]]:
        own = batch.select([name for name in batch.schema.names if name not in OF_MESSAGES])
        place = place_of(batch) if batch.num_rows else ()
        for order, rows, weights in self.reader(own):
            yield (*place, *order), rows, weights
