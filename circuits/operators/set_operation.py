"""INTERSECT and EXCEPT, row by row from the weights in both inputs.

    (a ∘ b)[x] = f(a[x], b[x])        (a ∘ b)^Δ[x] = f(I(a)[x], I(b)[x]) − f(z⁻¹(I(a))[x], z⁻¹(I(b))[x])

    intersect all: min(a, b)          intersect: [a > 0 ∧ b > 0]
    except all:    max(a − b, 0)      except:    [a > 0 ∧ b <= 0]

Like distinct (DBSP, PVLDB 16(7), §4), of two arguments: f(0, 0) = 0, so only rows of the deltas can change.
State: the traces of both inputs.  Cost: O(|d| log |I|).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, take
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Reader, Unchanged
from dbsp.circuits.operators.legal import lies_by, same_types
from dbsp.circuits.operators.operator import Context, Node, Reasons, Value
from dbsp.circuits.progress.bounds import Lines, union
from dbsp.circuits.progress.limits import Limits, limit
from dbsp.circuits.traces.trace import Integral, find_in
from dbsp.circuits.traces.zset import ZSet

FUNCTIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "intersect all": lambda a, b: np.maximum(np.minimum(a, b), 0),
    "intersect": lambda a, b: ((a > 0) & (b > 0)).astype(np.int64),
    "except all": lambda a, b: np.maximum(a - np.maximum(b, 0), 0),
    "except": lambda a, b: ((a > 0) & (b <= 0)).astype(np.int64),
}


@dataclass(frozen=True)
class SetOperation(Unchanged, Reader):
    """Inputs: two Integrate nodes of the same types, over whole rows and placed by all of them.

    kind: one of FUNCTIONS.
    """

    kind: str

    @property
    def cost(self) -> str:
        return "lookup"

    def step(self, context: Context, *inputs: Value) -> ZSet:
        left, right = inputs
        assert isinstance(left, Integral) and isinstance(right, Integral)
        schema = left.layout.schema
        sides = (left, right)
        if not len(left.delta) and not len(right.delta):
            return ZSet.empty(schema)
        rows = concat(schema, [side.delta.rows for side in sides])
        keys = np.concatenate([side.delta.keys for side in sides])
        order, starts = group_rows(rows.columns, keys)
        once = order[starts]
        touched, keys = take(rows, once), keys[once]
        before, after = [], []
        for i, side in enumerate(sides):
            own = [
                side.delta.weights if i == j else np.zeros(len(s.delta), np.int64)
                for j, s in enumerate(sides)
            ]
            held = np.zeros(len(keys), dtype=np.int64)
            for at, batch, there in find_in(side.before, touched.columns, keys, side.layout.identity, True):
                np.add.at(held, at, batch.weights[there])
            before.append(held)
            after.append(held + np.add.reduceat(np.concatenate(own)[order], starts))
        function = FUNCTIONS[self.kind]
        change = function(*after) - function(*before)
        changed = np.flatnonzero(change)
        return ZSet(take(touched, changed), change[changed])

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        super().verify(node, inputs, where)
        same_types(node, inputs, where)
        for child in inputs:
            lies_by(child, tuple(range(len(node.schema))), where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A row of the output is a row of one of this step's deltas: bounded where both are, by the least."""
        return union(inputs)

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """A row of either input is looked up in both."""
        shared = union(inputs)
        return tuple(limit(i, shared[i]) for i in sorted(shared))

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Each row is one of the first input."""
        return inputs[0]

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """A row is taken from an EXCEPT when it comes to be on the right."""
        return any(inputs) or not self.kind.startswith("intersect")
