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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Reader
from dbsp.circuits.operators.legal import pairs_of_keys
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.progress.bounds import Lines, bounded_together
from dbsp.circuits.progress.limits import Limits, limit, of_pairs
from dbsp.circuits.traces.layout import HIGH, placements
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral, find_in
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class SemiJoin(Reader):
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
        columns, keys = [delta.rows.column(i) for i in self.left_on], delta.keys
        order = None
        if len(left.layout.placement) == len(columns) and placements(keys)[1] is not None:
            # rows of one key, of which there are several, ask for it once
            order, starts = group_rows(columns, keys & HIGH, presorted=True)
            columns, keys = _taken(columns, order[starts]), keys[order[starts]]
        there = (self._totals(columns, keys, left, right, right.after) > 0) != self.anti
        if order is not None:
            grouped, there = there, np.empty(len(delta), dtype=np.bool_)
            there[order] = grouped.repeat(np.diff(starts, append=len(order)))
        return delta.zset.take(np.flatnonzero(there))

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
        for owner, batch, there in find_in(
            left.before, _taken(columns, turned), keys[turned], self.left_on, whole
        ):
            yield ZSet(batch.zset.take(there).rows, batch.weights[there] * sign[owner])

    def _totals(
        self,
        columns: list[pa.Array],
        keys: np.ndarray,
        left: Integral,
        right: Integral,
        runs: tuple[SortedRun, ...],
    ) -> np.ndarray:
        """int64[n]: Σ of the weights of the right rows that equal row i of the columns."""
        total = np.zeros(len(keys), dtype=np.int64)
        whole = self._is_whole(left, right)
        for owner, batch, there in find_in(runs, columns, keys, self.right_on, whole):
            np.add.at(total, owner, batch.weights[there])
        return total

    def _is_whole(self, left: Integral, right: Integral) -> bool:
        """Whether equal rows have equal sort keys: whole rows are compared, and both traces sort alike."""
        mine, other = left.layout, right.layout
        alike = (mine.placement, mine.order, mine.identity) == (other.placement, other.order, other.identity)
        return alike and self.left_on == self.right_on == mine.identity

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[0]

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        super().verify(node, inputs, where)
        left, right = inputs
        pairs_of_keys((self.left_on, self.right_on), left, right, where)
        compared = set(zip(self.left_on, self.right_on, strict=True))
        assert left.placement is not None and right.placement is not None, f"{where}: rows lie anywhere"
        assert len(left.placement) == len(right.placement), f"{where}: sides lie by other columns"
        places = set(zip(left.placement, right.placement, strict=True))
        assert places <= compared, f"{where}: rows lie by columns that aren't compared"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Output rows of a step are new left rows, or old ones that equal a new right row where compared.

        A column of new left rows has its own bound; an old left row is bounded only by what it is equal in.
        So a compared column is bounded by the least of both sides' bounds, if both have one; no other column
        is.
        """
        left, right = inputs
        on = zip(self.left_on, self.right_on, strict=True)
        return {mine: bound for mine, _, bound in bounded_together(left, right, on)}

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """Left rows are looked up by new right rows; right rows by new rows of either side.

        A new right row asks whether its key was there before, so right rows stay until both sides are past
        them.
        """
        left, right = inputs
        on = zip(self.left_on, self.right_on, strict=True)
        if position == 0:
            return of_pairs(right, on)
        return tuple(limit(other, bound) for _, other, bound in bounded_together(left, right, on))

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return 0, column

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Each row is one of the left side."""
        return inputs[0]

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """A left row goes when its first equal comes, if it was there for having none."""
        return self.anti or any(inputs)

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        on = f"{listed(inputs[0], self.left_on)} = {listed(inputs[1], self.right_on)}"
        return f"{'without' if self.anti else 'with'} an equal on {on}"


def _taken(columns: list[pa.Array], rows: np.ndarray) -> list[pa.Array]:
    indices = int64_array(np.ascontiguousarray(rows))
    return [column.take(indices) for column in columns]
