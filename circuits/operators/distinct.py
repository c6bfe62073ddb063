"""Distinct: the rows whose total weight is positive.

    distinct^Δ(d) = H(z⁻¹(I(d)), d)        H(i, d)[x] = [(i+d)[x] > 0] − [i[x] > 0]

DBSP, PVLDB 16(7), §4.  State: one trace.  Cost: O(|d| log |I(d)|) a step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbsp.circuits.operators.families import RowReader
from dbsp.circuits.operators.operator import Context, Value
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Distinct(RowReader):
    """Input: an Integrate node over whole rows."""

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


def weights_before(integral: Integral) -> np.ndarray:
    """int64[n]: z⁻¹(I(d))[x] for every row x of the step's delta."""
    delta, layout = integral.delta, integral.layout
    weights = np.zeros(len(delta), dtype=np.int64)
    columns = [delta.rows.column(i) for i in layout.identity]
    for wanted, batch, there in integral.find(columns, delta.keys, layout.identity, whole_key=True):
        np.add.at(weights, wanted, batch.weights[there])
    return weights
