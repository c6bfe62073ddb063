"""An aggregate that a finalizer makes of its group's rows, or of the parts that they are split into."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.operators.groups.aggregates.function import Function
from dbsp.circuits.operators.groups.state.members import Finalizer
from dbsp.circuits.operators.groups.state.sides import Sides


@dataclass(frozen=True)
class Finalized(Function):
    """trace: the number of the integral of what `finalizer` reads."""

    trace: int
    finalizer: Finalizer

    def finalize(self, sides: Sides, there: np.ndarray, data_type: pa.DataType) -> pa.Array:
        return self.finalizer.finalize(sides.members(self.trace), data_type)
