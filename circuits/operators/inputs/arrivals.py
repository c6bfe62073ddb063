"""The order in which a bag's rows arrived, as a column: step · 2³² + position in the step's delta.

    arrival^Δ(d)   = { (x, arrival of x in d) : x of d }        its retractions name no copy yet
    remaining^Δ(d) = { (x, a) inserted } − { (x, a) : the earliest copies of each retracted x }

So a retraction takes the earliest copy of its row that is left, of those in the same step too. Positions are
those of the step's input as it was given, whatever tasks read it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, int64_array, take
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Keeper, RowWise, Unchanged
from dbsp.circuits.operators.legal import lies_by
from dbsp.circuits.operators.operator import Context, Node, Placement, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limits, of_columns
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral, as_runs
from dbsp.circuits.traces.zset import ZSet

ARRIVAL = "__arrival"


def arrivals(sequence: pa.Array, step: int) -> pa.Array:
    """Of the rows at these positions of the step's delta."""
    position = fixed_values(sequence)
    assert position.max(initial=0) < 1 << 32, "more rows in a step than there are positions"
    return int64_array(position + (step << 32))


@dataclass(frozen=True)
class Arrival(RowWise):
    """Input: columns and a last column `__sequence`, in place of which comes `__arrival`.

    State: none.  Cost: linear.
    """

    history: ClassVar[str] = "the order in which rows arrived"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return pa.schema([*inputs[0]][:-1]).append(pa.field(ARRIVAL, pa.int64()))

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[0]

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        columns = [*delta.rows.columns[:-1], arrivals(delta.rows.columns[-1], context.step)]
        schema = self.schema(delta.rows.schema)
        return ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), delta.weights)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Rows of the output are rows of the input."""
        return inputs[0]

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < len(inputs[0]) - 1 else None

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return needed


@dataclass(frozen=True)
class Remaining(Unchanged, Keeper):
    """Input: the `key` columns and their arrival, placed by the key; of a retracted row any arrival.

    State: the copies that are left.  Cost: O(|d| log |I|), and the copies of retracted rows.
    """

    history: ClassVar[str] = "the order in which rows arrived"

    key: tuple[int, ...]

    is_trace: ClassVar[bool] = True

    @property
    def cost(self) -> str:
        return "lookup"

    def placement(self, *inputs: Placement) -> Placement:
        return self.key

    def layout(self, *inputs: pa.Schema) -> Layout:
        return Layout(inputs[0], self.key)

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Integral:
        given = delta_of(inputs[0])
        come = given.take(np.flatnonzero(given.weights > 0))
        gone = given.take(np.flatnonzero(given.weights < 0))
        parts = [come]
        if len(gone):
            there = (*before, *as_runs(Batch.build(layout, come, context.seed)))
            parts.append(self._earliest(gone, Integral(layout, there, Batch.empty(layout)), context.seed))
        return Integral(layout, before, Batch.build(layout, ZSet.sum(layout.schema, parts), context.seed))

    def _earliest(self, gone: ZSet, there: Integral, seed: int) -> ZSet:
        """The retractions, of the earliest copies in `there`."""
        columns = [gone.rows.column(i) for i in self.key]
        hashed = hash_rows(columns, len(gone), seed)
        order, starts = group_rows(columns, hashed)
        wanted = -np.add.reduceat(gone.weights[order], starts)
        first = order[starts]
        columns = take(gone.rows, first).columns[:-1]
        found = [
            (owner, take(batch.rows, rows), batch.weights[rows])
            for owner, batch, rows in there.find(columns, hashed[first], self.key, whole_key=False)
        ]
        if not found:
            return ZSet.empty(there.layout.schema)
        owner = np.concatenate([owner for owner, _, _ in found])
        rows = pa.Table.from_batches([rows for _, rows, _ in found]).combine_chunks().to_batches()[0]
        weights = np.concatenate([weights for _, _, weights in found])
        arrival = fixed_values(rows.column(len(self.key)))
        by = np.lexsort((arrival, owner))
        owner, arrival, weights = owner[by], arrival[by], weights[by]
        opens = np.flatnonzero(np.diff(owner, prepend=-1) | np.diff(arrival, prepend=-1))
        copies = np.maximum(np.add.reduceat(weights, opens), 0)
        owner = owner[opens]
        until = np.cumsum(copies)
        start = until - copies
        start -= start[np.searchsorted(owner, owner)]  # copies of the same row that arrived before
        leaving = np.clip(wanted[owner] - start, 0, copies)
        left = np.flatnonzero(leaving)
        return ZSet(take(rows, by[opens[left]]), -leaving[left])

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        lies_by(inputs[0], self.key, where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """The retracted copy is of the same row."""
        return inputs[0]

    def own_reach(self, inputs: Sequence[Bounds]) -> Limits | None:
        """Copies of a row are looked up by a retraction of the row."""
        return of_columns(inputs[0], self.key)

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)
