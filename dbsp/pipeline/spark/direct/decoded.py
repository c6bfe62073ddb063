"""Messages as the rows of a table, by columns, and what is left to Spark: who reads them doesn't matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.pipeline.spark.direct.columns import RecordColumns
from dbsp.pipeline.spark.direct.messages import Messages
from dbsp.pipeline.spark.staging import Order, Staging
from dbsp.running.queue import weighted
from dbsp.sql.compiler.sources.messages import TIMESTAMP

# A unit is cut into pieces of not much fewer than this, by so many attempts; what is left then goes to Spark.
_LEAST, _ATTEMPTS = 256, 16


@dataclass(frozen=True)
class Decoder:
    """staging: what reads records as rows. settings, patience: of the client, and seconds to wait for it."""

    columns: RecordColumns
    staging: Staging
    settings: Mapping[str, str]
    patience: float

    @property
    def reads_times(self) -> bool:
        """Whether anything reads when a message was written."""
        return any(field.name.lower() == TIMESTAMP for field in self.columns.table.schema)

    def rows(
        self, unit: Messages, refused: list[Messages], bad: list[pa.RecordBatch]
    ) -> Iterator[tuple[Order, pa.RecordBatch]]:
        """Rows and their weights; what there are none of is added to `refused`, what is none to `bad`.

        Raises DataError.
        """
        read, refuse = self.staging.read, self.staging.refuse
        for records in self.records(unit, refused):
            none: list[pa.RecordBatch] = []
            found = read(records) if refuse is None else refuse(read, records, none)
            for order, rows, weights in found:
                if rows.num_rows:
                    yield order, weighted(rows, weights)
            bad += [weighted(rows, np.ones(rows.num_rows, np.int64)) for rows in none]

    def records(self, unit: Messages, refused: list[Messages]) -> Iterator[pa.RecordBatch]:
        """Records; the pieces of which there are none are added to `refused`, in order."""
        pieces, attempts = [(0, len(unit))], 0
        left: list[tuple[int, int]] = []
        while pieces:
            first, end = pieces.pop()
            attempts += 1
            records = self.columns.of(unit.part(first, end)) if attempts <= _ATTEMPTS else None
            if records is not None:
                yield records
            elif end - first > _LEAST and attempts < _ATTEMPTS:
                half = (first + end) // 2
                pieces += [(half, end), (first, half)]
            elif left and left[-1][1] == first:
                left[-1] = left[-1][0], end
            else:
                left.append((first, end))
        refused += [unit.part(first, end) for first, end in left]
