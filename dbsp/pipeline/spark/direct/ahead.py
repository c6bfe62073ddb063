"""What has been read of a source, and no step has taken yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from dbsp.pipeline.spark.direct.messages import Messages
from dbsp.pipeline.spark.direct.spans import Place
from dbsp.pipeline.spark.staging import Order

# at most: messages, and bytes of what they became
MOST, MOST_BYTES = 1 << 20, 1 << 27


@dataclass
class Taken:
    """Of a source for one step. ends: where it is after that. refused: what Spark is to decode."""

    ends: Mapping[Place, int] = field(default_factory=dict)
    rows: list[tuple[Order, pa.RecordBatch]] = field(default_factory=list)
    bad: list[pa.RecordBatch] = field(default_factory=list)
    refused: list[Messages] = field(default_factory=list)
    count: int = 0
    size: int = 0

    def add(self, rows: Taken) -> None:
        """Those that come next."""
        self.rows += rows.rows
        self.bad += rows.bad
        self.refused += rows.refused
        self.count += rows.count
        self.size += rows.size + sum(messages.nbytes for messages in rows.refused)

    def is_full(self, most: int) -> bool:
        return self.count >= most or self.size >= MOST_BYTES
