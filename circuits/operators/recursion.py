"""The operators of a recursion: relations defined by themselves, as least fixed points.

    R₀ = 0        Rᵢ₊₁ = distinct(f(Rᵢ, E))        R = Rₙ, from which on nothing changes

DBSP, PVLDB 16(7), §5: f runs in a circuit of its own, whose time is the iteration i; its incremental version
is incremental in both times, the iteration and the step t. What changes is the difference across both,

    r(t, i) = (R(t, i) − R(t, i − 1)) − (R(t − 1, i) − R(t − 1, i − 1))

and a trace holds Σₜ r(t, i) for every i, which is why rows inside a recursion carry i, their *iteration*, as
their last column: state is not multiplied by the number of iterations. A linear operator passes the column
through. A bilinear one pairs every change with everything there is, and a pair's iteration is the greater of
its two rows' (the paper has these pairs as four terms, by which of the two times is new). A relation from
outside doesn't change with the iteration, so its difference is all at iteration 0 (δ₀). Only distinct has to
wait for its iteration. `circuits/steps/recursion.py` runs the circuit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, fixed_values, take
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Reader, RowWise, Unchanged
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limits
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

ITERATION = "__iteration"
ITERATION_FIELD = pa.field(ITERATION, pa.int32())


@dataclass(frozen=True)
class Loop:
    """body: every node that depends on a Recurrence, ascending, the FixedPoints last.

    feedback: (node, Recurrence): what the node puts out at an iteration enters at the next one.
    """

    body: tuple[int, ...]
    feedback: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Recurrence(RowWise):
    """z⁻¹ in the time of iterations: what the recursive relation had in the iteration before.

    Inputs: the relations from outside that the loop reads, for their levels. loop: which of the circuit's.
    limit: the last iteration in which it may change. past_limit: the error for one that does, as a message.
    """

    loop: int
    name: str
    columns: pa.Schema
    limit: int
    past_limit: str

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.columns

    def placement(self, *inputs: Placement) -> Placement:
        return ()

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """An iteration may derive any row anew."""
        return {}

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """A recursion makes rows of its own."""
        return None

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        return f"as of the iteration before, for at most {self.limit}"


@dataclass(frozen=True)
class Earliest(Unchanged, Reader):
    """distinct, incremental in both times: a row is there from the first iteration on that derives it.

        out(t, i)[x] = (D(t, i) − D(t, i − 1)) − (D(t − 1, i) − D(t − 1, i − 1))
        D(t, i)[x] = [W(t, i)[x] > 0]        W(t, i)[x]: the derivations of x up to iteration i

    Where derivations of x change at i, out may differ from 0 at i, and at later iterations that have some:
    when the first one is deleted, the next one counts.

    Input: an Integrate node over whole rows, found by all columns but the iteration.  State: that trace, a
    row a derived row and iteration.  Cost: O(h log |I|) a changed row that was derived in h iterations.
    """

    @property
    def cost(self) -> str:
        return "lookup"

    def affected(self, stored: Integral) -> ZSet:
        """The rows whose distinct may change, each with an iteration at which it may.

        stored: before: the trace up to the last step; delta: changes of this step.
        """
        delta = stored.delta
        changed_at = iterations(delta.rows)
        rows = [delta.rows]
        for wanted, batch, there in _derivations(delta.rows, delta.keys, stored):
            later = there[iterations(batch.rows)[there] > changed_at[wanted]]
            rows.append(take(batch.rows, later))
        listed = concat(delta.rows.schema, rows)
        return ZSet(listed, np.ones(listed.num_rows, dtype=np.int64))

    def settle(self, context: Context, affected: ZSet, stored: Integral, changed: Integral) -> ZSet:
        """out(t, i) of affected rows that carry iteration i; every change up to i is in `changed`.

        affected: each row once. stored, changed: `before` is the trace up to the last step, and since.
        """
        rows = affected.rows
        placement = stored.layout.placement
        keys = hash_rows([rows.column(c) for c in placement], len(affected), context.seed)
        old = _derived(rows, keys, stored)
        new = old + _derived(rows, keys, changed)
        before, until = (new > 0).astype(np.int64) - (old > 0)
        change = until - before
        kept = np.flatnonzero(change)
        return ZSet(take(rows, kept), change[kept])

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """Rows of any age may be derived again."""
        return ()

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """A recursion makes rows of its own."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)


@dataclass(frozen=True)
class FixedPoint(RowWise):
    """∫: the sum of the differences over all iterations, which is what the step changes.

    Input: a node of the loop.  State: none.  Cost: O(|d| log |d|).
    """

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return pa.schema([inputs[0].field(i) for i in range(len(inputs[0]) - 1)])

    def placement(self, *inputs: Placement) -> Placement:
        # they lie in one partition: whoever keeps them should spread them
        return None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        differences = delta_of(inputs[0])
        rows = differences.rows.select(list(range(differences.rows.num_columns - 1)))
        return ZSet(rows, differences.weights).consolidate(context.seed)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """A recursion makes rows of its own."""
        return None

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return 0, column


def iterations(rows: pa.RecordBatch) -> np.ndarray:
    """int32[n]: the iteration of each row."""
    return fixed_values(rows.column(rows.num_columns - 1))


def later_by_one(differences: ZSet) -> ZSet:
    """The same, an iteration later."""
    rows = differences.rows
    later = pa.array(iterations(rows) + np.int32(1))
    return ZSet(
        pa.RecordBatch.from_arrays([*rows.columns[:-1], later], schema=rows.schema), differences.weights
    )


def _derivations(
    rows: pa.RecordBatch, keys: np.ndarray, trace: Integral
) -> Iterator[tuple[np.ndarray, Batch, np.ndarray]]:
    """Wherever the trace has one of the rows, whatever its iteration: as `Integral.find`."""
    row = trace.layout.placement
    return trace.find([rows.column(c) for c in row], keys, row, whole_key=False)


def _derived(rows: pa.RecordBatch, keys: np.ndarray, trace: Integral) -> np.ndarray:
    """int64[2, n]: how often each row is derived before its iteration, and until then."""
    found = np.zeros((2, rows.num_rows), dtype=np.int64)
    at = iterations(rows)
    for wanted, batch, there in _derivations(rows, keys, trace):
        weights, found_at = batch.weights[there], iterations(batch.rows)[there]
        np.add.at(found[0], wanted, np.where(found_at < at[wanted], weights, 0))
        np.add.at(found[1], wanted, np.where(found_at <= at[wanted], weights, 0))
    return found
