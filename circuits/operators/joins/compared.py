"""Semi- and anti-join by keys and one comparison: the left rows that have a match on the right, or have none.

    (a ⋉ b)[x] = a[x] · h[x]      (a ▷ b)[x] = a[x] · (1 − h[x])
    h[x] = [∃y: b[y] > 0, key(y) = key(x), x.u θ y.v]

The least or the greatest y.v of the key says it for all of them:

    u < v, u <= v:  u θ greatest(b)[key]      u > v, u >= v:  u θ least(b)[key]      u <> v:  either of both

    (a ⋉ b)^Δ = da · I(h) + z⁻¹(I(a)) · dh        (a ▷ b)^Δ = da · (1 − I(h)) − z⁻¹(I(a)) · dh

dh isn't 0 but for keys of which an end is another one, and but for the u between what it was and what it is.
It is `SemiJoin` with the matches (DBSP, PVLDB 16(7), Theorem 3.4), of which none is looked at but the ends.
State: the traces of both inputs, in the order of u and of v, which other operators may share.
Cost: O(|d| log |I|) plus the rows put out, however many matches there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.groups import Groups
from dbsp.circuits.columns.order_codes import order_code
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.operators.families import Reader
from dbsp.circuits.operators.joins.ends import AFTER, BEFORE, Ends, ends_of
from dbsp.circuits.operators.joins.join import LEFT, lie_together
from dbsp.circuits.operators.legal import pairs_of_keys
from dbsp.circuits.operators.linear import where_true
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value
from dbsp.circuits.operators.shown import listed, spelled
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limits
from dbsp.circuits.traces.layout import HIGH, LOW, of_placement, placements, with_low
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral, find_within
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class ComparedSemiJoin(Reader):
    """Inputs: two Integrate nodes, placed by the keys: the left in the order of its column `left_value`; the
    right has the keys and then the value, in its order.

    residual: the comparison of Column(0), the left value, with Column(1), the right one. least, greatest:
    which ends of the right values it is to be true of. anti: keep the rows without a match.
    """

    left_key: tuple[int, ...]
    left_value: int
    residual: Expression
    least: bool
    greatest: bool
    anti: bool = False

    @property
    def _right_value(self) -> int:
        return len(self.left_key)

    @property
    def cost(self) -> str:
        return "lookup"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[0]

    def step(self, context: Context, *inputs: Value) -> ZSet:
        left, right = inputs
        assert isinstance(left, Integral) and isinstance(right, Integral)
        schema, arriving = left.layout.schema, len(left.delta)
        if not arriving and not (left.before and len(right.delta)):
            return ZSet.empty(schema)
        asked = self._asked(left, right)
        ends = ends_of(right, asked.keys, asked.hashes, self.least, self.greatest)
        values = left.delta.rows.column(self.left_value)
        met = self._met(values, ends, AFTER, asked.owner[:arriving])
        come = left.delta.zset.take((met != self.anti).nonzero()[0])
        return ZSet.sum(schema, [come, *self._turning(left, asked, ends)])

    def _asked(self, left: Integral, right: Integral) -> Groups:
        """The keys of both deltas, the left rows first, each once; of right ones those that the left has."""
        others = right.delta.take(_placed_in(left.before, right.delta.keys).nonzero()[0])
        deltas = (left.delta, self.left_key), (others, range(len(self.left_key)))
        columns = [[delta.rows.column(i) for i in key] for delta, key in deltas]
        both = [pa.concat_arrays(parts) for parts in zip(*columns, strict=True)]
        keys = np.concatenate((left.delta.keys, others.keys)) & HIGH
        order, starts = group_rows(both, keys, presorted=True)
        first = order[starts]
        indices = int64_array(np.ascontiguousarray(first))
        return Groups([column.take(indices) for column in both], keys[first], order, starts)

    def _met(self, values: pa.Array, ends: Ends, side: int, owner: np.ndarray) -> np.ndarray:
        """bool[n]: h of left rows with these values, of the keys `owner`."""
        met = np.zeros(len(values), dtype=np.bool_)
        for is_asked, end in ((self.least, ends.least), (self.greatest, ends.greatest)):
            if is_asked:
                at = end[side][owner]
                (some,) = (at >= 0).nonzero()
                columns = [values.take(int64_array(some)), ends.values.take(int64_array(at[some]))]
                pairs = pa.RecordBatch.from_arrays(columns, names=["left", "right"])
                met[some[where_true(self.residual, pairs)]] = True
        return met

    def _turning(self, left: Integral, asked: Groups, ends: Ends) -> Iterator[ZSet]:
        """z⁻¹(I(a)) · dh, or its negation."""
        least, greatest = self._spans(ends)
        changed = (ends.least[BEFORE] != ends.least[AFTER]) | (ends.greatest[BEFORE] != ends.greatest[AFTER])
        (turned,) = (changed & (least <= greatest)).nonzero()
        indices, hashes = int64_array(turned), asked.hashes[turned]
        columns = [column.take(indices) for column in asked.keys]
        spans = with_low(hashes, least[turned]), with_low(hashes, greatest[turned])
        for owner, batch, there in find_within(left.before, columns, *spans, self.left_key):
            values = batch.column(self.left_value).take(int64_array(there))
            was, is_ = (self._met(values, ends, side, turned[owner]) for side in (BEFORE, AFTER))
            turn = is_.astype(np.int64) - was
            (rows,) = turn.nonzero()
            weights = batch.weights[there[rows]] * turn[rows]
            yield ZSet(batch.zset.take(there[rows]).rows, -weights if self.anti else weights)

    def _spans(self, ends: Ends) -> tuple[np.ndarray, np.ndarray]:
        """(least, greatest) code per key, between which lie the values of all left rows that turn.

        One end: those between what it was and what it is. u <> v isn't true of the one v that a key has, so
        that it turns for that one; and for all u where there was none.
        """
        codes = order_code(ends.values).astype(np.uint64)
        if self.least != self.greatest:
            sides = _codes(codes, ends.least, LOW) if self.least else _codes(codes, ends.greatest, _ZERO)
            return sides.min(axis=0), sides.max(axis=0)
        none, one = ends.least < 0, ends.least == ends.greatest
        only = _codes(codes, ends.least, _ZERO)
        low = np.where(none, _ZERO, np.where(one, only, LOW))
        high = np.where(none, LOW, np.where(one, only, _ZERO))
        return low.min(axis=0), high.max(axis=0)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        super().verify(node, inputs, where)
        left, right = inputs
        values = (left, self.left_value), (right, self._right_value)
        for side, value in values:
            ordered = isinstance(side.operator, Integrate) and side.operator.order == value
            assert ordered, f"{where}: a trace that isn't in the order of its value"
        assert self.least or self.greatest, f"{where}: of no end"
        assert len(right.schema) == self._right_value + 1, f"{where}: right rows are keys and a value"
        right_key = tuple(range(self._right_value))
        compared = (*self.left_key, self.left_value), (*right_key, self._right_value)
        pairs_of_keys(compared, left, right, where, "types")
        lie_together(left, right, self.left_key, right_key, where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """Any row, at any time: a right one may be an end of its key for old left rows, too."""
        return ()

    def takes_bag(self, position: int) -> bool:
        """A left row that is listed twice is put out twice; of the right NULLs are passed over one by one."""
        return position == LEFT

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return LEFT, column

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Each row is one of the left side."""
        return inputs[LEFT]

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """Where nothing is taken back ends go outwards: rows come to have a match, and keep it."""
        return self.anti or any(inputs)

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        left, right = inputs
        equal = f"{listed(left, self.left_key)} = {listed(right, range(self._right_value))}"
        compared = spelled(self.residual, (left[self.left_value], right[self._right_value]))
        on = f"on {equal} and {compared}" if self.left_key else f"on {compared}"
        return f"{'without' if self.anti else 'with'} a match {on}"


def _placed_in(runs: Sequence[SortedRun], keys: np.ndarray) -> np.ndarray:
    """bool[n]: whether some run has a row that is placed as this sort key is."""
    places, owner = placements(keys)
    lacking = np.arange(len(places))
    for run in runs:
        lacking = np.delete(lacking, run.met(*of_placement(places[lacking]))[0])
    there = np.ones(len(places), dtype=np.bool_)
    there[lacking] = False
    return there if owner is None else there[owner]


_ZERO = np.array(0, np.uint64)


def _codes(codes: np.ndarray, at: np.ndarray, none: np.ndarray) -> np.ndarray:
    """The codes at these positions; `none` where there is none."""
    return np.where(at < 0, none, np.append(codes, _ZERO)[at])
