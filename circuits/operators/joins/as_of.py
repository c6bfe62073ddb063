"""As-of join: each left row beside the right row of its key that is nearest in time.

    (a ⋈ b)[x, y] = a[x]  where y = nearest(b)[key(x), time(x)]

    (a ⋈ b)^Δ = da ⋈ I(b) + z⁻¹(I(a))|T ⋈ I(b) − z⁻¹(I(a))|T ⋈ z⁻¹(I(b))

It is linear in a. A right row that comes or goes changes the nearest row only of the left rows T between its
time and the next one beyond it that was there before the step, or is there after it.
State: the traces of both inputs, in the order of time.
Cost: O(log |I|) a row of da, of db and of T, as long as the rows next to a time decide (`nearest.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.order_codes import order_code
from dbsp.circuits.expressions.monotone import Bounds, least
from dbsp.circuits.expressions.predicates import SIGNS
from dbsp.circuits.operators.families import Reader
from dbsp.circuits.operators.joins.join import LEFT, lie_together
from dbsp.circuits.operators.joins.nearest import BEYOND, Asked, Found, nearest, wants_greatest
from dbsp.circuits.operators.legal import pairs_of_keys
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.bounds import Lines, bounded_together
from dbsp.circuits.progress.limits import Limits, limit, of_pairs
from dbsp.circuits.traces.layout import LOW, Layout, with_low
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class AsOf(Reader):
    """Inputs: two Integrate nodes, placed by the keys, in the order of the times. Output: all their columns.

    comparison: 'greater_than_or_equal', 'greater_than', 'less_than_or_equal' or 'less_than', of the left time
    and the right. outer: left rows without a nearest one stay, beside NULLs. right_grows: no right row is
    ever taken back.
    """

    left_key: tuple[int, ...]
    right_key: tuple[int, ...]
    left_time: int
    right_time: int
    comparison: str
    outer: bool
    right_grows: bool = False

    @property
    def _keys(self) -> tuple[tuple[int, int], ...]:
        return tuple(zip(self.left_key, self.right_key, strict=True))

    @property
    def cost(self) -> str:
        return "lookup of the nearest row, and of the rows until the next"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        fields = [field for schema in inputs for field in schema]
        return pa.schema([field.with_name(f"c{i}") for i, field in enumerate(fields)])

    def placement(self, *inputs: Placement) -> Placement:
        return self.left_key

    def step(self, context: Context, *inputs: Value) -> ZSet:
        left, right = inputs
        assert isinstance(left, Integral) and isinstance(right, Integral)
        schema = self.schema(left.layout.schema, right.layout.schema)
        after = right.after
        parts = []
        if len(left.delta):
            new = left.delta.zset
            found = self._nearest(left.delta.keys, new.rows, right.layout, after)
            parts.append(_beside(new, found, np.flatnonzero(found.there | self.outer), schema))
        keys, touched = self._touched(left, right, after)
        if len(touched):
            was, is_ = (
                self._nearest(keys, touched.rows, right.layout, runs) for runs in (right.before, after)
            )
            everywhere = np.arange(len(touched))
            same = equal_rows(was.rows.columns, everywhere, is_.rows.columns, everywhere)
            changed = ~(same & (was.there == is_.there))
            for found, rows in ((was, -touched), (is_, touched)):
                parts.append(
                    _beside(rows, found, np.flatnonzero(changed & (found.there | self.outer)), schema)
                )
        return ZSet.sum(schema, parts)

    def _nearest(
        self, keys: np.ndarray, rows: pa.RecordBatch, layout: Layout, runs: tuple[SortedRun, ...]
    ) -> Found:
        """For each left row, of these runs of the right trace. keys: the left rows' sort keys."""
        asked = Asked([rows.column(i) for i in self.left_key], keys, rows.column(self.left_time))
        return nearest(layout, runs, self.right_key, asked, self.comparison)

    def _touched(
        self, left: Integral, right: Integral, after: tuple[SortedRun, ...]
    ) -> tuple[np.ndarray, ZSet]:
        """(sort keys, rows) of T, and of a few rows more: codes are approximate."""
        delta = right.delta
        if not len(delta) or not left.before:
            return delta.keys[:0], ZSet.empty(left.layout.schema)
        times = delta.rows.column(self.right_time)
        asked = Asked([delta.rows.column(i) for i in self.right_key], delta.keys, times)
        upwards = wants_greatest(self.comparison)
        further = np.maximum if upwards else np.minimum
        end = order_code(times).astype(np.uint64)
        for runs in (right.before, after):
            beyond = nearest(right.layout, runs, self.right_key, asked, BEYOND[self.comparison])
            code = order_code(beyond.rows.column(self.right_time)).astype(np.uint64)
            end = further(end, np.where(beyond.there, code, LOW if upwards else np.uint64(0)))
        own, ends = delta.keys, with_low(delta.keys, end)
        return left.within(*((own, ends) if upwards else (ends, own)))

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        super().verify(node, inputs, where)
        left, right = inputs
        times = ((left, self.left_time), (right, self.right_time))
        assert self.comparison in BEYOND, f"{where}: nothing is nearest by {self.comparison}"
        for side, time in times:
            ordered = isinstance(side.operator, Integrate) and side.operator.order == time
            assert ordered, f"{where}: a trace that isn't in the order of its time"
        compared = (*self.left_key, self.left_time), (*self.right_key, self.right_time)
        pairs_of_keys(compared, left, right, where, "types")
        lie_together(left, right, self.left_key, self.right_key, where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Output rows of a step have a new left row, or an old one whose nearest row is another one now.

        Then a new right row has its key: a key is bounded by the least of both sides' bounds, if both have
        one. Where the nearest is sought below, such an old left row isn't before the new right row: so its
        time is bounded as a key is. No other column is: neither side's width is known here, and so not the
        right columns.
        """
        left, right = inputs
        found = {a: bound for a, _, bound in bounded_together(left, right, self._keys)}
        times = self.left_time, self.right_time
        if wants_greatest(self.comparison) and times[0] in left and times[1] in right:
            found[times[0]] = least(left[times[0]], right[times[1]])
        return found

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """Left rows are looked up by new right rows of the key, and by time where the nearest is sought
        below: no left row before a right row has it for its nearest.

        Right rows are looked up by new rows of both sides, and by the old left rows that a new right row
        touches. Of those before the least of both bounds only the last can be the nearest to a row after it,
        or can end the rows that are touched; and of an old left row before it the nearest stays what it was.
        """
        left, right = inputs
        times = self.left_time, self.right_time
        if position == LEFT:
            known = of_pairs(right, self._keys)
            if wants_greatest(self.comparison) and times[1] in right:
                known += (limit(times[0], right[times[1]]),)
            return known
        limits = [limit(b, bound) for _, b, bound in bounded_together(left, right, self._keys)]
        if self.right_grows and times[0] in left and times[1] in right:
            bound = least(left[times[0]], right[times[1]])
            limits.append(replace(limit(times[1], bound), last_of=self.right_key))
        return tuple(limits)

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        own = len(inputs[0])
        return (1, column - own) if column >= own else (0, column)

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Each row stands beside one of the left side."""
        return inputs[0]

    def compares_times(self, position: int) -> bool:
        return True

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """A nearer row replaces the nearest."""
        return True

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        left, right = inputs
        equal = ", ".join(f"{left[a]} = {right[b]}" for a, b in self._keys)
        kind, sign = "outer " if self.outer else "", SIGNS[self.comparison]
        nearest = f"nearest of {left[self.left_time]} {sign} {right[self.right_time]}"
        return f"{kind}{nearest}{equal and f' on {equal}'}"


def _beside(rows: ZSet, found: Found, kept: np.ndarray, schema: pa.Schema) -> ZSet:
    """The kept ones of some rows, each beside what was found for it."""
    indices = int64_array(kept)
    columns = [column.take(indices) for side in (rows.rows, found.rows) for column in side.columns]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), rows.weights[kept])
