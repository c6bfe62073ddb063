"""Inner join, bilinear: (a + b) ⋈ c = a ⋈ c + b ⋈ c.

    (a ⋈ b)^Δ = da ⋈ z⁻¹(I(b)) + I(a) ⋈ db        (a ⋈ b)[x, y] = a[x] · b[y]  where key(x) = key(y)

DBSP, PVLDB 16(7), Theorem 3.4.  State: the traces of both inputs, which other operators may share.
Cost: O(|d| log |I|) plus the pairs of equal keys and within the *band*; without keys and band, all rows of
the other side. A band that is bounded from one side only has all rows of the key that lie on the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.operators.linear import where_true
from dbsp.circuits.operators.operator import Context, Operator, Placement, Value
from dbsp.circuits.traces.band import Band, matches, near
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.sorted_run import Stretch
from dbsp.circuits.traces.spans import Span
from dbsp.circuits.traces.trace import Integral, expand_in_blocks
from dbsp.circuits.traces.zset import ZSet

LEFT, RIGHT = 0, 1
# looked at together, before a residual leaves few of them: memory stays bounded
PAIRS = 1 << 20


@dataclass(frozen=True)
class Join(Operator):
    """Inputs: two Integrate nodes, placed by `left_key` and `right_key`.

    No keys: all rows lie in one place, and every pair is looked at.
    columns: the output, as (side, column). residual: a condition over the output's columns. left_band: which
    rows of the left trace a right row can meet, as the residual implies; right_band: the other way round.
    """

    left_key: tuple[int, ...]
    right_key: tuple[int, ...]
    columns: tuple[tuple[int, int], ...]
    residual: Expression | None = None
    left_band: Band | Span | None = None
    right_band: Band | Span | None = None

    @property
    def cost(self) -> str:
        bands = [band for band in (self.left_band, self.right_band) if band is not None]
        if bands:
            return "lookup of a range" if all(b.is_closed for b in bands) else "lookup of a half-open range"
        return "lookup" if self.left_key else "all rows of the other side"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        fields = [inputs[side].field(i) for side, i in self.columns]
        return pa.schema([field.with_name(f"c{at}") for at, field in enumerate(fields)])

    def placement(self, *inputs: Placement) -> Placement:
        if inputs == ((), ()):
            return ()
        at = {column: i for i, column in reversed(list(enumerate(self.columns)))}
        places = []
        for left, right in zip(self.left_key, self.right_key, strict=True):
            place = at.get((LEFT, left), at.get((RIGHT, right)))
            if place is None:
                return None
            places.append(place)
        return tuple(places)

    def step(self, context: Context, *inputs: Value) -> ZSet:
        left, right = inputs
        assert isinstance(left, Integral) and isinstance(right, Integral)
        schema = self.schema(left.layout.schema, right.layout.schema)
        try:
            return self._joined(left, right, schema)
        except EvaluationError:
            # a pair that cancels was never there: it may be in one term and, negative, in the other
            pairs = replace(self, residual=None)._joined(left, right, schema)
            return self._restricted(pairs.consolidate(context.seed))

    def _joined(self, left: Integral, right: Integral, schema: pa.Schema) -> ZSet:
        found = near(right, left.delta, self.right_band) if len(left.delta) else ()
        parts = [self._pairs(left.delta, batch, schema) for batch in found]
        found = near(left, right.delta, self.left_band) if len(right.delta) else ()
        parts += [self._pairs(batch, right.delta, schema) for batch in found]
        parts.append(self._pairs(left.delta, right.delta, schema))
        return ZSet.sum(schema, parts)

    def _pairs(self, left: Batch, right: Batch, schema: pa.Schema) -> ZSet:
        """left ⋈ right for two batches sorted by key: the shorter is looked up in the longer."""
        if not len(left) or not len(right):
            return ZSet.empty(schema)
        short, long, band = left, right, self.right_band
        if len(right) < len(left):
            short, long, band = right, left, self.left_band
        parts = []
        owner, start, stop = matches(short, band, Stretch([long]))
        for at, j in expand_in_blocks(start, stop, PAIRS):
            mine, other = (owner[at], j) if short is left else (j, owner[at])
            parts.append(self._equal(left, right, mine, other, schema))
        return ZSet.sum(schema, parts)

    def _equal(self, left: Batch, right: Batch, i: np.ndarray, j: np.ndarray, schema: pa.Schema) -> ZSet:
        """The pairs of left row i[n] and right row j[n] whose keys are equal, and not only their hashes."""
        same = equal_rows(
            [left.rows.column(k) for k in self.left_key], i, [right.rows.column(k) for k in self.right_key], j
        )
        if not same.all():
            i, j = i[same], j[same]
        if not len(i):
            return ZSet.empty(schema)
        weights = left.weights[i] * right.weights[j]
        return self._restricted(ZSet(self._gather(left, i, right, j, schema), weights))

    def _gather(
        self, left: Batch, i: np.ndarray, right: Batch, j: np.ndarray, schema: pa.Schema
    ) -> pa.RecordBatch:
        at = (int64_array(np.ascontiguousarray(i)), int64_array(np.ascontiguousarray(j)))
        sides = (left.rows, right.rows)
        columns = [sides[side].column(column).take(at[side]) for side, column in self.columns]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _restricted(self, pairs: ZSet) -> ZSet:
        if self.residual is None:
            return pairs
        return pairs.take(where_true(self.residual, pairs.rows))
