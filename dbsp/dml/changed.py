"""What a table holds, and what statements have changed in it since."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dbsp.circuits.traces.zset import ZSet
from dbsp.views.view import Contents


class Changed(Contents):
    """The rows of `there` and a delta, as parts: each is searched by itself, those that were there by their
    indexes.
    """

    def __init__(self, there: Contents, delta: list[ZSet]) -> None:
        """there: as of a step. delta: of as many columns."""
        super().__init__(there.view, there.schema, [*there.parts, *delta], there._spark, step=there.step)
        self._there = there
        self._delta = Contents(there.view, there.schema, delta, step=there.step)

    def among(self, columns: Sequence[int], wanted: pa.RecordBatch, most: int) -> list[ZSet] | None:
        """As of `Contents`."""
        found = self._there.among(columns, wanted, most)
        if found is None:
            return None
        changed = self._delta.among(columns, wanted, most - sum(map(len, found)))
        return None if changed is None else found + changed
