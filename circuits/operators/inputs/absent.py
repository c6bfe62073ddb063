"""What a step takes back from a bag that isn't there.

    absent(d)[x] = max(0, −(z⁻¹(I(d)) + d)[x])

So d + absent(d) is what can be done of d: it leaves no row less than zero times. As `Replacement`, it stands
in a circuit beside the program's, over the table's trace as the last step left it; it is asked only of a step
that `NonNegative` has refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.distinct import weights_before
from dbsp.circuits.operators.families import Changes, RowReader
from dbsp.circuits.operators.inputs.bad import REFUSED_SCHEMA
from dbsp.circuits.operators.inputs.late import row_text
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

_REASON = "the row is taken back, and isn't there"


@dataclass(frozen=True)
class Absent(RowReader):
    """Input: the table's trace, of whole rows.  State: none of its own.  Cost: O(|d| log |I(d)|)."""

    history: ClassVar[str] = "what the table held before"

    def step(self, context: Context, *inputs: Value) -> ZSet:
        (integral,) = inputs
        assert isinstance(integral, Integral)
        lacking = -(weights_before(integral) + integral.delta.weights)
        absent = np.flatnonzero(lacking > 0)
        return ZSet(integral.delta.zset.take(absent).rows, lacking[absent])

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return False


@dataclass(frozen=True)
class Excuses(Changes):
    """Rows as what `bad_rows` says of them. relation, origin: whose they are, and where they came from."""

    history: ClassVar[str] = "what the table held before"

    relation: str
    origin_name: str
    names: tuple[str, ...]

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return REFUSED_SCHEMA

    def placement(self, *inputs: Placement) -> Placement:
        return None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        absent = delta_of(inputs[0])
        columns = [
            pa.repeat(self.relation, len(absent)),
            pa.repeat(self.origin_name, len(absent)),
            row_text(absent.rows.rename_columns([*self.names])),
            pa.repeat(_REASON, len(absent)),
        ]
        return ZSet(pa.RecordBatch.from_arrays(columns, schema=REFUSED_SCHEMA), absent.weights)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        assert len(inputs[0].schema) == len(self.names), f"{where}: other columns"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Any number of rows may be absent."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return False
