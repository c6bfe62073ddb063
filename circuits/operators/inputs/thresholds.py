"""Progress: how far the clock, a waterline or the largest event time has come, known within the step.

    Wₜ = max(Wₜ₋₁, max over all partitions of what the rows of step t prove)

`Proved` says what a task's rows prove, a `Broadcast` tells all tasks of the next level, and whoever has a
`Threshold` to watch reads it.  State: the waterlines, one value each, which the driver keeps.  Cost: O(|d|).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.operators.families import Changes
from dbsp.circuits.operators.inputs.late import candidates, rejected
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import least_bound, waterline_row
from dbsp.circuits.progress.waterline import CLOCK, Lateness, Waterlines, later
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Proved(Changes):
    """What a delta proves of waterlines: a row of candidates, NULL where it proves nothing; or no row."""

    history: ClassVar[str] = "LATENESS: what each step proved"

    lateness: tuple[Lateness, ...]

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return pa.schema([pa.field(one.name, one.type) for one in self.lateness])

    def placement(self, *inputs: Placement) -> Placement:
        return None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        schema = self.schema()
        if not len(delta):
            return ZSet.empty(schema)
        _, jumping = rejected(self.lateness, delta.rows, context)
        found = {}
        for one, candidate in candidates(self.lateness, delta.rows, jumping):
            context.report(one.name, candidate)
            found[one.name] = candidate
        if not found:
            return ZSet.empty(schema)
        row = waterline_row(self.lateness, found)
        return ZSet(pa.RecordBatch.from_arrays(row.columns, schema=schema), np.ones(1, dtype=np.int64))

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """It has candidates that come, and takes none back."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return False


@dataclass(frozen=True)
class Threshold:
    """The least of `bounds`, over the waterlines `lateness`: what it passes comes due.

    at_once: what is equal to it has been passed too.
    """

    lateness: tuple[Lateness, ...]
    bounds: tuple[Expression, ...]
    at_once: bool = False

    def value(self, waterlines: Waterlines) -> pa.Scalar | None:
        """None while one of the waterlines is unset."""
        return least_bound(self.bounds, waterline_row(self.lateness, waterlines))


def reached(context: Context, proved: Sequence[Value]) -> Waterlines:
    """The waterlines as of the end of this step. proved: what came from `Proved`, of all partitions."""
    now = dict(context.waterlines)
    if context.clock is not None:
        now[CLOCK.name] = pa.scalar(context.clock, CLOCK.type)
    for name, value in context.advances.items():
        _raise(now, name, value)
    for value in proved:
        rows = delta_of(value).rows
        for name, column in zip(rows.schema.names, rows.columns, strict=True):
            for i in range(len(column)):  # one row a partition
                if column[i].is_valid:
                    _raise(now, name, column[i])
    return now


def _raise(waterlines: dict[str, pa.Scalar], name: str, candidate: pa.Scalar) -> None:
    risen = later(waterlines.get(name), candidate)
    assert risen is not None
    waterlines[name] = risen
