"""Records: what reached each key, however it cancels.

    records(d)[k] = Σ { |d[x]| : key(x) = k }

Its input has the keys' columns only. Not linear, but additive over the parts of a delta that are apart.
State: none.  Cost: O(|d| log |d|).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbsp.circuits.operators.operator import Context, Operator, Value, delta_of
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Records(Operator):
    """Each key once a task, its weight the number of records."""

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        return ZSet(delta.rows, np.abs(delta.weights)).consolidate(context.seed)
