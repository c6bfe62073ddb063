"""Records: what reached each key, however it cancels.

    records(d)[k] = Σ { |d[x]| : key(x) = k }

Its input has the keys' columns only. Not linear, but additive over the parts of a delta that are apart.
State: none.  Cost: O(|d| log |d|).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Changes, Unchanged
from dbsp.circuits.operators.operator import Context, Node, Reasons, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Records(Unchanged, Changes):
    """Each key once a task, its weight the number of records."""

    history: ClassVar[str] = "TRIGGER or EMIT: what has left already"

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        return ZSet(delta.rows, np.abs(delta.weights)).consolidate(context.seed)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """It counts changes, and takes none back."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return False
