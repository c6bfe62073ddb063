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
from dbsp.circuits.columns.groups import Groups
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Reader
from dbsp.circuits.operators.legal import pairs_of_keys
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.progress.bounds import Lines, bounded_together
from dbsp.circuits.progress.limits import Limits, limit, of_pairs
from dbsp.circuits.traces.layout import HIGH
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
        schema = left.layout.schema
        if not len(left.delta) and not (left.before and len(right.delta)):
            return ZSet.empty(schema)
        whole = self._is_whole(left, right)
        asked = self._asked(left, right, whole)
        # the right is looked up once, for what its own rows turn and for the left rows that come
        before = np.zeros(len(asked.hashes), dtype=np.int64)
        for owner, batch, there in find_in(right.before, asked.keys, asked.hashes, self.right_on, whole):
            np.add.at(before, owner, batch.weights[there])
        arriving = len(left.delta)
        after = before + asked.total(np.concatenate((np.zeros(arriving, np.int64), right.delta.weights)))
        there = ((after > 0) != self.anti)[asked.owner[:arriving]]
        come = left.delta.zset.take(there.nonzero()[0])
        turn = (after > 0).astype(np.int64) - (before > 0)
        return ZSet.sum(schema, [come, *self._turning(left, asked, -turn if self.anti else turn, whole)])

    def _asked(self, left: Integral, right: Integral, whole: bool) -> Groups:
        """What is compared of the rows of both deltas, the left ones first, each once.

        hashes: their sort keys, of which only the high half means something unless rows are compared whole.
        """
        deltas = (left.delta, self.left_on), (right.delta, self.right_on)
        columns = [[delta.column(i) for i in on] for delta, on in deltas if len(delta)]
        both = [pa.concat_arrays(parts) for parts in zip(*columns, strict=True)]
        keys = np.concatenate((left.delta.keys, right.delta.keys))
        order, starts = group_rows(both, keys if whole else keys & HIGH, presorted=True)
        first = order[starts]
        return Groups(_taken(both, first), keys[first], order, starts)

    def _turning(self, left: Integral, asked: Groups, turn: np.ndarray, whole: bool) -> Iterator[ZSet]:
        """z⁻¹(I(a)) · dh, or its negation. turn: dh, of what is asked."""
        (turned,) = turn.nonzero()
        columns, keys, turn = _taken(asked.keys, turned), asked.hashes[turned], turn[turned]
        for owner, batch, there in find_in(left.before, columns, keys, self.left_on, whole):
            yield ZSet(batch.zset.take(there).rows, batch.weights[there] * turn[owner])

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
