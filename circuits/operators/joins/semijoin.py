"""Semi- and anti-join: the left rows that have an equal on the right, or have none.

    (a ⋉ b)[x] = a[x] · h[x]      (a ▷ b)[x] = a[x] · (1 − h[x])
    h[x] = [Σ {b[y] : y = x on the keys} > 0]

    (a ⋉ b)^Δ = da · I(h) + z⁻¹(I(a)) · dh        (a ▷ b)^Δ = da · (1 − I(h)) − z⁻¹(I(a)) · dh

h is a distinct over b's keys (DBSP, PVLDB 16(7), §4) and the product with it bilinear (Theorem 3.4).
State: the traces of both inputs, which other operators may share; of b the keys suffice.
Cost: O(|d| log |I|) plus the rows put out: old rows are read only where a key gets its first equal, or loses
its last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.operators.operator import Context, Operator, Value
from dbsp.circuits.traces.batch import HIGH
from dbsp.circuits.traces.sorted_run import Stretch
from dbsp.circuits.traces.trace import Integral, find_in
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class SemiJoin(Operator):
    """Inputs: two Integrate nodes; what places the rows is among the columns that are compared.

    left_on[i] is compared with right_on[i], NULL being equal to NULL. anti: keep the rows without an equal.
    """

    left_on: tuple[int, ...]
    right_on: tuple[int, ...]
    anti: bool = False

    @property
    def cost(self) -> str:
        return "lookup"

    def step(self, context: Context, *inputs: Value) -> ZSet:
        left, right = inputs
        assert isinstance(left, Integral) and isinstance(right, Integral)
        return ZSet.sum(left.layout.schema, [self._arriving(left, right), *self._turning(left, right)])

    def _arriving(self, left: Integral, right: Integral) -> ZSet:
        """da · I(h), or da · (1 − I(h))."""
        delta = left.delta
        if not len(delta):
            return delta.zset
        columns = [delta.rows.column(i) for i in self.left_on]
        equals = self._totals(columns, delta.keys, left, right, right.after)
        return delta.zset.take(np.flatnonzero((equals > 0) != self.anti))

    def _turning(self, left: Integral, right: Integral) -> Iterator[ZSet]:
        """z⁻¹(I(a)) · dh, or its negation."""
        delta, whole = right.delta, self._is_whole(left, right)
        if not len(delta) or not left.before:
            return
        columns = [delta.rows.column(i) for i in self.right_on]
        order, starts = group_rows(columns, delta.keys if whole else delta.keys & HIGH, presorted=True)
        columns = _taken(columns, order[starts])
        keys = delta.keys[order[starts]]
        before = self._totals(columns, keys, left, right, right.before)
        after = before + np.add.reduceat(delta.weights[order], starts)
        turn = (after > 0).astype(np.int64) - (before > 0)
        turned = np.flatnonzero(turn)
        sign = -turn[turned] if self.anti else turn[turned]
        for at, batch, there in find_in(
            left.before, _taken(columns, turned), keys[turned], self.left_on, whole
        ):
            yield ZSet(batch.zset.take(there).rows, batch.weights[there] * sign[at])

    def _totals(
        self,
        columns: list[pa.Array],
        keys: np.ndarray,
        left: Integral,
        right: Integral,
        runs: tuple[Stretch, ...],
    ) -> np.ndarray:
        """int64[n]: Σ of the weights of the right rows that equal row i of the columns."""
        total = np.zeros(len(keys), dtype=np.int64)
        whole = self._is_whole(left, right)
        for at, batch, there in find_in(runs, columns, keys, self.right_on, whole):
            np.add.at(total, at, batch.weights[there])
        return total

    def _is_whole(self, left: Integral, right: Integral) -> bool:
        """Whether equal rows have equal sort keys: whole rows are compared, and both traces sort alike."""
        mine, other = left.layout, right.layout
        alike = (mine.placement, mine.order, mine.identity) == (other.placement, other.order, other.identity)
        return alike and self.left_on == self.right_on == mine.identity


def _taken(columns: list[pa.Array], at: np.ndarray) -> list[pa.Array]:
    indices = int64_array(np.ascontiguousarray(at))
    return [column.take(indices) for column in columns]
