"""COUNT: of rows, of values, of distinct values.

count(g) = Σ { w : (g, x) has weight w, x is not NULL }
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.operators.groups.aggregates.function import Accumulated
from dbsp.circuits.operators.groups.state.sides import Sides


@dataclass(frozen=True)
class Count(Accumulated):
    """0 for a group without values."""

    def finalize(self, sides: Sides, there: np.ndarray, data_type: pa.DataType) -> pa.Array:
        return int64_array(self.counts(sides))
