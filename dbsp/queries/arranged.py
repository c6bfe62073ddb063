"""The rows of a query in an order that they don't tell themselves: that of columns which aren't shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import pyarrow as pa

from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.plans.calls import SortOrder
from dbsp.views.view import Contents


class Arranged(Contents):
    """Asked for in another order, they are rows as any."""

    def __init__(self, wide: Contents, unshown: int) -> None:
        """wide: the rows with the columns that they are ordered by; unshown: of these, the last ones."""
        self._wide, self._shown = wide, [*range(len(wide.schema) - unshown)]
        schema = pa.schema([wide.schema.field(i) for i in self._shown])
        super().__init__(wide.view, schema, [self._narrow(wide.zset)], wide._spark, step=wide.step)

    @cached_property
    def sorted(self) -> ZSet:
        """In the order of ORDER BY, rows that are equal but for what isn't shown one by one."""
        return self._narrow(self._wide.sorted)

    def batch(self) -> pa.RecordBatch:
        """Every row as often as it is there, in the order of ORDER BY."""
        return self._each(self.sorted)

    def page(
        self, offset: int, count: int, order: Sequence[SortOrder] | None = None
    ) -> tuple[pa.RecordBatch, int]:
        """As `Contents.page`. Cost: of sorting them."""
        if order is not None:
            return super().page(offset, count, order)
        rows = self.batch()
        return rows.slice(offset, count), rows.num_rows

    def _narrow(self, rows: ZSet) -> ZSet:
        return ZSet(rows.rows.select(self._shown), rows.weights)
