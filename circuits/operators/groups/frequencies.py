"""Frequencies: how often each value of a group is there, as a rank of which the mode is the extreme.

    frequencies^Δ(d)[g, v] = −row(z⁻¹(I)[g, v]) + row((I + d)[g, v])
    row(n) = (g, rank(n, v), v), if n > 0        rank(n, v) = ±2²⁴ n + the first 24 bits of v's order code

Of values that share a rank the mode is the extreme one, as of those that are as frequent: the greatest; with
−n the least. The bits are there for groups of many values that are as frequent, of which then few share a
rank. A sort key has 24 bits of it, so that it loses those of the code as n grows, when few are as frequent.

Like distinct (DBSP, PVLDB 16(7), §4), of which it is the same with weights.
State: one trace.  Cost: O(|d| log |I(d)|) a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array, take
from dbsp.circuits.columns.order_codes import order_code
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.distinct import weights_before
from dbsp.circuits.operators.families import Reader
from dbsp.circuits.operators.groups.combine import keep_keys
from dbsp.circuits.operators.operator import Context, Placement, Value
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.progress.bounds import Lines, of_columns_alone
from dbsp.circuits.progress.limits import Limits, of_bounds
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

_BITS = 24


@dataclass(frozen=True)
class Frequencies(Reader):
    """Input: an Integrate node over whole rows: `keys` columns, and a value that is never NULL.

    Output: the keys, the rank, the value. greatest: the mode is the extreme that is greatest, else the least.
    """

    keys: int
    greatest: bool = False

    @property
    def cost(self) -> str:
        return "lookup"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0].insert(self.keys, pa.field("rank", pa.int64(), nullable=False))

    def placement(self, *inputs: Placement) -> Placement:
        return keep_keys(inputs[0], self.keys)

    def step(self, context: Context, *inputs: Value) -> ZSet:
        (integral,) = inputs
        assert isinstance(integral, Integral)
        delta = integral.delta
        if not len(delta):
            return ZSet.empty(self.schema(delta.rows.schema))
        before = weights_before(integral)
        after = before + delta.weights
        sides = [(before > 0).nonzero()[0], (after > 0).nonzero()[0]]
        rows = take(delta.rows, np.concatenate(sides))
        often = np.concatenate([before[sides[0]], after[sides[1]]])
        code = order_code(rows.column(self.keys)).astype(np.int64) >> (32 - _BITS)
        rank = int64_array((often if self.greatest else -often) * (1 << _BITS) + code)
        made = rows.add_column(self.keys, pa.field("rank", pa.int64(), nullable=False), rank)
        return ZSet(made, np.array([-1, 1]).repeat([len(side) for side in sides]))

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A value's frequency changes with any of its rows."""
        return of_columns_alone(inputs[0], range(self.keys))

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """A row is looked up by its changes."""
        return of_bounds(inputs[position])

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        if column == self.keys:
            return None
        return 0, column - (column > self.keys)

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """A value's row is replaced."""
        return True

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        end = "greatest" if self.greatest else "least"
        return f"of {listed(inputs[0], [self.keys])} by {listed(inputs[0], range(self.keys))} {end}"
