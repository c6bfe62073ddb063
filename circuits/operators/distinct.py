"""Distinct: the rows whose total weight is positive.

    distinct^Δ(d) = H(z⁻¹(I(d)), d)        H(i, d)[x] = [(i+d)[x] > 0] − [i[x] > 0]

DBSP, PVLDB 16(7), §4.  State: one trace.  Cost: O(|d| log |I(d)|) a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Reader, Unchanged
from dbsp.circuits.operators.operator import Context, Value
from dbsp.circuits.progress.limits import Limits, of_columns
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Distinct(Unchanged, Reader):
    """Input: an Integrate node over whole rows."""

    @property
    def cost(self) -> str:
        return "lookup"

    def step(self, context: Context, *inputs: Value) -> ZSet:
        (integral,) = inputs
        assert isinstance(integral, Integral)
        delta = integral.delta
        before = weights_before(integral)
        change = ((before + delta.weights) > 0).astype(np.int64) - (before > 0)
        return (
            delta.zset.take(changed)
            if len(changed := np.flatnonzero(change)) == 0
            else ZSet(delta.zset.take(changed).rows, change[changed])
        )

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """A row is looked up by changes of the row."""
        return of_columns(inputs[position], inputs[position])

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)


def weights_before(integral: Integral) -> np.ndarray:
    """int64[n]: z⁻¹(I(d))[x] for every row x of the step's delta."""
    delta, layout = integral.delta, integral.layout
    weights = np.zeros(len(delta), dtype=np.int64)
    columns = [delta.rows.column(i) for i in layout.identity]
    for wanted, batch, there in integral.find(columns, delta.keys, layout.identity, whole_key=True):
        weights[wanted] += batch.weights[there]  # a batch holds a row once
    return weights
