"""Presence: whether a group has a value.

present(g) = true  where Σ { w : (g, x) has weight w, x is not NULL } > 0, else NULL
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.operators.groups.aggregates.function import Accumulated
from dbsp.circuits.operators.groups.state.sides import Sides


@dataclass(frozen=True)
class Presence(Accumulated):
    """NULL for a group without values, so that it is a value itself only where it is true."""

    def finalize(self, sides: Sides, there: np.ndarray, data_type: pa.DataType) -> pa.Array:
        some = self.counts(sides) > 0
        return pa.array(some, mask=~some)
