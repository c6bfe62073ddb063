"""A stream beside a table: each row meets the table's contents once, in the step in which it comes.

    out = da ⋈ I(b)        out = da ⋉ I(b)        out = da ▷ I(b)        out = (da ⋈ I(b)) ∪ pad(da ▷ I(b))

I(b) is of the step itself. What b does later changes nothing that was put out: where a has no retractions
the output has none. The weight of a pair is a[x] · b[y].
State: the trace of b, which other operators may share; of a nothing is kept.
Cost: O(|da| log |I(b)|), plus the pairs of equal keys; without keys, all rows of b.
Source: Apache Calcite, "Streaming", joins of streams to tables.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression, columns_of
from dbsp.circuits.operators.families import everything
from dbsp.circuits.operators.joins.join import LEFT, RIGHT
from dbsp.circuits.operators.legal import pairs_of_keys
from dbsp.circuits.operators.linear import where_true
from dbsp.circuits.operators.operator import (
    Context,
    Node,
    Operator,
    Placement,
    Reasons,
    Standing,
    Value,
    delta_of,
)
from dbsp.circuits.operators.shown import listed, spelled
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limits, of_pairs
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, find_in
from dbsp.circuits.traces.zset import ZSet

LOOKUPS = ("inner", "left", "semi", "anti")


@dataclass(frozen=True)
class Lookup(Operator):
    """Inputs: the stream's changes, placed by `left_key`, and an Integrate node, placed by `right_key`.

    kind: of LOOKUPS. residual: a condition over the left columns, then the right ones. Output: those columns;
    of semi and anti the left ones.
    """

    left_key: tuple[int, ...]
    right_key: tuple[int, ...]
    kind: str
    residual: Expression | None = None

    history: ClassVar[str] = "a stream's rows meet the table as it was when they came"

    @property
    def cost(self) -> str:
        return "lookup" if self.left_key else "all rows of the other side"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        fields = [*inputs[LEFT], *(inputs[RIGHT] if self.kind in ("inner", "left") else ())]
        return pa.schema([field.with_name(f"c{i}") for i, field in enumerate(fields)])

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[LEFT]

    def step(self, context: Context, *inputs: Value) -> ZSet:
        new, right = delta_of(inputs[LEFT]), inputs[RIGHT]
        assert isinstance(right, Integral)
        schema = self.schema(new.rows.schema, right.layout.schema)
        if not len(new):
            return ZSet.empty(schema)
        left = Batch.build(Layout(new.rows.schema, self.left_key), new, context.seed)
        pairs = self._pairs(left, right, context.seed)
        owner = pairs.rows.column(pairs.rows.num_columns - 1).to_numpy()
        if self.kind == "inner":
            return _beside(left, owner, pairs, schema)
        met = np.zeros(len(left), dtype=np.bool_)
        met[owner] = True
        if self.kind in ("semi", "anti"):
            return left.zset.take(np.flatnonzero(met == (self.kind == "semi"))).under(schema)
        alone = np.flatnonzero(~met)
        nothing = [pa.nulls(len(alone), field.type) for field in right.layout.schema]
        padded = [*left.zset.take(alone).rows.columns, *nothing]
        missing = ZSet(pa.RecordBatch.from_arrays(padded, schema=schema), left.weights[alone])
        return ZSet.sum(schema, [_beside(left, owner, pairs, schema), missing])

    def _pairs(self, left: Batch, right: Integral, seed: int) -> ZSet:
        """The right rows that left rows meet, followed by the positions of those.

        They are summed before anything is asked of them: a row that was replaced is in two runs.
        """
        schema = right.layout.schema.append(pa.field("__owner", pa.int64(), nullable=False))
        keys = [left.rows.column(i) for i in self.left_key]
        parts = []
        for owner, batch, there in find_in(right.after, keys, left.keys, self.right_key, whole_key=False):
            found = batch.zset.take(there)
            columns = [*found.rows.columns, int64_array(np.ascontiguousarray(owner))]
            parts.append(ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), found.weights))
        pairs = ZSet.sum(schema, parts).consolidate(seed)
        if self.residual is None or not len(pairs):
            return pairs
        owners = pairs.rows.column(pairs.rows.num_columns - 1)
        read = {*columns_of(self.residual)}
        width = left.rows.num_columns
        of_left = [
            column.take(owners) if i in read else pa.nulls(len(pairs), column.type)
            for i, column in enumerate(left.rows.columns)
        ]
        rows = pa.RecordBatch.from_arrays(
            [*of_left, *pairs.rows.columns[:-1]],
            names=[f"c{i}" for i in range(width + pairs.rows.num_columns - 1)],
        )
        return pairs.take(where_true(self.residual, rows))

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        left, right = inputs
        assert self.kind in LOOKUPS, f"{where}: no kind of lookup: {self.kind}"
        assert right.operator.is_trace, f"{where}: the table must be a trace"
        pairs_of_keys((self.left_key, self.right_key), left, right, where)
        assert left.placement == self.left_key, f"{where}: the stream lies by {left.placement}"
        if self.residual is not None:
            width = len(left.schema) + len(right.schema)
            assert all(i < width for i in columns_of(self.residual)), f"{where}: no such column"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Each output row has a new left row, whose columns come first, beside rows of any age."""
        return inputs[LEFT]

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """The right is looked up by new left rows: by their bounds on the key."""
        if position == LEFT:
            return None
        return of_pairs(inputs[LEFT], zip(self.right_key, self.left_key, strict=True))

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        width = len(inputs[LEFT])
        return (RIGHT, column - width) if column >= width else (LEFT, column)

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return everything(schema)

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """What a row met stays when the table has forgotten it: as many rows as the stream had."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return inputs[LEFT]

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """No row, no output."""
        return None

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        left, right = inputs
        on = f"on {listed(left, self.left_key)} = {listed(right, self.right_key)}"
        condition = "" if self.residual is None else f" and {spelled(self.residual, (*left, *right))}"
        return f"{self.kind}, once, {on if self.left_key else 'every pair'}{condition}"


def _beside(left: Batch, owner: np.ndarray, pairs: ZSet, schema: pa.Schema) -> ZSet:
    """Each pair's left row, followed by its right one."""
    owners = int64_array(np.ascontiguousarray(owner))
    columns = [*(column.take(owners) for column in left.rows.columns), *pairs.rows.columns[:-1]]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), left.weights[owner] * pairs.weights)
