"""An index over the rows of a small view, in the order of some of its columns, kept up to date by its chunks.

    index' = index + I(chunks') − I(chunks)      chunks that both have are not read

So it follows a view from any step to any other at the cost of what was changed or merged meanwhile, whatever
steps are kept. It is a loop over rows in Python: for views that are served, of at most FEW rows.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
from sortedcontainers import SortedDict

from dbsp.circuits.columns.forms.broken_text import listed
from dbsp.circuits.columns.forms.outside import batch_to_outside
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.order_keys import order_keys
from dbsp.sql.plans.calls import SortOrder

FEW = 1 << 16
# The key of a value is (True, ...), that of NULL (False, ...): before all values, and after any key.
_THERE, _LAST = (True,), (2,)

# one row that holds what is asked for in the columns of the index, and NULL in the others
Bound: TypeAlias = pa.RecordBatch


class ViewIndex:
    """columns: those by which rows are found. Equal is as in GROUP BY: NULL = NULL, NaN = NaN, -0 = 0.

    Cost: O(log n) a lookup, and O(log n) a row of what has changed since the one before.
    """

    def __init__(self, schema: pa.Schema, columns: Sequence[int]) -> None:
        self._schema = schema
        self._order = [SortOrder(Column(i, schema.field(i).type)) for i in columns]
        self._rows: SortedDict = SortedDict()
        self._parts: dict[Chunk, ZSet] = {}
        self._lock = threading.Lock()

    def between(
        self, parts: Mapping[Chunk, ZSet], low: Bound | None, high: Bound | None
    ) -> list[tuple[dict[str, Any], int]]:
        """The rows of the chunks from `low` to `high`, in their order, each with its weight.

        Both are included. NULL is between them only where it is one of them, or neither is given.
        """
        with self._lock:
            self._follow(parts)
            minimum = self._key(low) if low is not None else None if high is None else (_THERE,)
            maximum = None if high is None else (*self._key(high), _LAST)
            return [self._rows[key] for key in self._rows.irange(minimum, maximum)]

    def _key(self, bound: Bound) -> tuple[Any, ...]:
        return order_keys(bound, self._order)[0][: len(self._order)]

    def _follow(self, parts: Mapping[Chunk, ZSet]) -> None:
        gone = [-part for chunk, part in self._parts.items() if chunk not in parts]
        come = [part for chunk, part in parts.items() if chunk not in self._parts]
        if not gone and not come:
            return
        self._parts = {}  # an interrupt leaves neither the rows before nor those after
        rows, self._rows = self._rows, SortedDict()
        changed = [*gone, *come]
        total = ZSet.sum(changed[0].schema, changed).consolidate()
        batch = pa.RecordBatch.from_arrays(total.rows.columns, schema=self._schema)
        shown = listed(batch_to_outside(batch))
        for key, row, weight in zip(
            order_keys(batch, self._order), shown, total.weights.tolist(), strict=True
        ):
            before = rows.get(key, (row, 0))[1]
            if before + weight:
                rows[key] = (row, before + weight)
            else:
                del rows[key]
        self._rows, self._parts = rows, dict(parts)
