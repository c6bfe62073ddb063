"""What a source brought that is no row of its table: rows of `bad_rows`, with the step at which they came.

    bad_rows(relation, step, origin, text, reason)

Beside `late_rows`: what no table takes isn't lost, and stops nothing.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import RowWise
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.traces.zset import ZSet

BAD_ROWS = "bad_rows"
BAD_SCHEMA = pa.schema(
    [
        pa.field("relation", pa.string()),
        pa.field("step", pa.int64()),
        pa.field("origin", pa.string()),
        pa.field("text", pa.string()),
        pa.field("reason", pa.string()),
    ]
)
_STEP = 1
# as a source gives them, which knows no step
REFUSED_SCHEMA = BAD_SCHEMA.remove(_STEP)


@dataclass(frozen=True)
class Numbered(RowWise):
    """The rows that sources refused, with the number of the step."""

    history: ClassVar[str] = "the steps one by one"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return BAD_SCHEMA

    def placement(self, *inputs: Placement) -> Placement:
        return None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        refused = delta_of(inputs[0])
        columns = refused.rows.columns
        columns.insert(_STEP, pa.repeat(pa.scalar(context.step, pa.int64()), len(refused)))
        return ZSet(pa.RecordBatch.from_arrays(columns, schema=BAD_SCHEMA), refused.weights)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        assert inputs[0].schema == REFUSED_SCHEMA, f"{where}: not what sources refuse"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None if column == _STEP else (0, column - (column > _STEP))

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return {*range(len(schema))}

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Any number of rows may be bad."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """A source refuses rows, and takes none of them back."""
        return False
