"""What makes a table hold the rows that it is given, and no others.

    a bag     r − z⁻¹(I(t))
    keyed     of each key in r − z⁻¹(I(t)) its row in r, or its deletion where r has none

It is no incremental form: the rows come whole. So it stands in a circuit of its own, which is run over the
table's trace as the last step left it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.forms.json_text import described
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.errors import SharedKey
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Reader
from dbsp.circuits.operators.legal import lies_by, same_types
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limits
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.by_key import by_key
from dbsp.circuits.traces.layout import HIGH
from dbsp.circuits.traces.ranges import in_ranges
from dbsp.circuits.traces.sorted_run import batches_of
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

# rows of both that are compared at a time
RANGE = 1 << 18


@dataclass(frozen=True)
class Replacement(Reader):
    """key: of a keyed table, whose trace is placed by it; () of a bag.

    Inputs: the rows, placed as the table's trace is, and that trace. Raises SharedKey where two rows have one
    key.  State: none of its own.  Cost: O(|r| log |r| + |I(t)|); of what is held a range at a time is read.
    """

    history: ClassVar[str] = "what the table held before"

    table: str
    key: tuple[int, ...]

    @property
    def cost(self) -> str:
        return "everything"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return pa.schema([f if i in self.key else f.with_nullable(True) for i, f in enumerate(inputs[0])])

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[0]

    def step(self, context: Context, *inputs: Value) -> ZSet:
        held = inputs[1]
        assert isinstance(held, Integral)
        wanted = Batch.build(held.layout, delta_of(inputs[0]), context.seed)
        if self.key:
            self._check(wanted)
        schema = self.schema(held.layout.schema)
        parts = []
        batches = [wanted, *batches_of(held.before)]
        for ours, *theirs in in_ranges(batches, RANGE, whole_placements=bool(self.key)):
            less = [Batch(batch.keys, batch.rows, -batch.weights) for batch in theirs if len(batch)]
            delta = Batch.merge(held.layout, [ours, *less]).zset
            if len(delta):
                changes = by_key(delta, self.key)[0] if self.key else delta
                parts.append(changes.under(schema))
        return ZSet.sum(schema, parts)

    def _check(self, wanted: Batch) -> None:
        """A key has one row. Rows that share one lie side by side."""
        twice = wanted.weights > 1
        high = wanted.keys & HIGH
        near = high[1:] == high[:-1]
        near = np.flatnonzero(np.append(near, False) | np.append(False, near))
        if len(near):
            columns = [wanted.rows.column(i).take(pa.array(near)) for i in self.key]
            order, starts = group_rows(columns, hash_rows(columns, len(near)))
            first = starts[np.flatnonzero(np.diff(np.append(starts, len(order))) > 1)]
            twice[near[order[first]]] = True
        if twice.any():
            keys = wanted.rows.select(list(self.key))
            shown = min(described(keys, int(i)) for i in np.flatnonzero(twice)[:100])
            raise SharedKey(f"table '{self.table}': several rows have the key {shown}; a key has one row")

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        assert inputs[1].operator.is_trace, f"{where}: the table must be a trace"
        lies_by(inputs[0], inputs[1].placement, where)
        same_types(node, inputs, where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        return () if position == 1 else None

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """It puts out a change anew in each step."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return True
