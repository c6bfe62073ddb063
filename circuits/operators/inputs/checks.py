"""Checks: what must be so of each row that comes into a table.

    checks(d) = d, if no x that comes in d breaks a condition

Here they are where a condition reads what only the step knows, and where rows that a table has are looked at
again. Whatever else comes in is judged before it is queued (`rules`).  State: none.  Cost: O(|d|).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import take
from dbsp.circuits.errors import BrokenRule
from dbsp.circuits.expressions.nodes import columns_of
from dbsp.circuits.operators.families import RowWise, Unchanged
from dbsp.circuits.operators.inputs.rules import Check, broken
from dbsp.circuits.operators.legal import has_columns
from dbsp.circuits.operators.operator import Context, Node, Value, delta_of
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Checks(Unchanged, RowWise):
    """The identity on rows that meet the conditions; BrokenRule at the first that comes and doesn't."""

    table: str
    checks: tuple[Check, ...]

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        come = np.flatnonzero(delta.weights > 0)
        rows = delta.rows if len(come) == len(delta) else take(delta.rows, come)
        why = broken(self.checks, rows)
        if why is not None:
            raise BrokenRule(f"table '{self.table}': {why}")
        return delta

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        for check in self.checks:
            has_columns(check.value, inputs[0], where)
            assert check.value.type == pa.bool_(), f"{where}: condition is not boolean"

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return {*needed, *(i for check in self.checks for i in columns_of(check.value))}

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        return ", ".join(check.said for check in self.checks)
