"""Inner join, bilinear: (a + b) ⋈ c = a ⋈ c + b ⋈ c.

    (a ⋈ b)^Δ = da ⋈ z⁻¹(I(b)) + I(a) ⋈ db        (a ⋈ b)[x, y] = a[x] · b[y]  where key(x) = key(y)

DBSP, PVLDB 16(7), Theorem 3.4.  State: the traces of both inputs, which other operators may share.
Cost: O(|d| log |I|) plus the pairs of equal keys and within the *band*; without keys and band, all rows of
the other side. A band that is bounded from one side only has all rows of the key that lie on the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.allowance import has_allowance, may_go_on
from dbsp.circuits.columns.arrow import every
from dbsp.circuits.columns.equality import equal_columns
from dbsp.circuits.columns.ranges import expand_in_blocks
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.inverse import solved
from dbsp.circuits.expressions.mirror import both, column_of, taken
from dbsp.circuits.expressions.monotone import Bound, Bounds, bound_of, least
from dbsp.circuits.expressions.nodes import Expression, columns_of, remap
from dbsp.circuits.expressions.predicates import comparisons
from dbsp.circuits.operators.families import Reader
from dbsp.circuits.operators.legal import has_columns, pairs_of_keys
from dbsp.circuits.operators.linear import where_true
from dbsp.circuits.operators.operator import Context, Node, Placement, Value
from dbsp.circuits.operators.shown import listed, spelled
from dbsp.circuits.operators.streams import Integrate, found_by
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limit, Limits, of_pairs
from dbsp.circuits.traces.band import Asked, Band, asked
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.sorted_run import Found, Shares, SortedRun
from dbsp.circuits.traces.trace import Integral, as_runs
from dbsp.circuits.traces.zset import ZSet

LEFT, RIGHT = 0, 1
# looked at together, before a residual leaves few of them: memory stays bounded
PAIRS = 1 << 20


@dataclass(frozen=True)
class Join(Reader):
    """Inputs: two Integrate nodes, placed by `left_key` and `right_key`.

    No keys: all rows lie in one place, and every pair is looked at.
    columns: the output, as (side, column). residual: a condition over the output's columns. left_band: which
    rows of the left trace a right row can meet, as the residual implies; right_band: the other way round.
    """

    left_key: tuple[int, ...]
    right_key: tuple[int, ...]
    columns: tuple[tuple[int, int], ...]
    residual: Expression | None = None
    left_band: Band | None = None
    right_band: Band | None = None

    @property
    def cost(self) -> str:
        bands = [band for band in (self.left_band, self.right_band) if band is not None]
        if bands:
            return "lookup of a range" if all(b.is_closed for b in bands) else "lookup of a half-open range"
        return "lookup" if self.left_key else "all rows of the other side"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        fields = [inputs[side].field(i) for side, i in self.columns]
        return pa.schema([field.with_name(f"c{i}") for i, field in enumerate(fields)])

    def placement(self, *inputs: Placement) -> Placement:
        if inputs == ((), ()):
            return ()
        outputs = {column: i for i, column in reversed(list(enumerate(self.columns)))}
        places = []
        for left, right in zip(self.left_key, self.right_key, strict=True):
            place = outputs.get((LEFT, left), outputs.get((RIGHT, right)))
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
        parts: list[ZSet] = []
        mine, other = as_runs(left.delta), as_runs(right.delta)
        for own in mine:
            # of a trace with itself the deltas are one batch, which the left asks of the right
            parts += self._with(own, (*right.before, *other), LEFT, schema)
        for own in other:
            parts += self._with(own, left.before, RIGHT, schema)
        return ZSet.sum(schema, parts)

    def _with(
        self, own: SortedRun, runs: Iterable[SortedRun], side: int, schema: pa.Schema
    ) -> Iterator[ZSet]:
        """A step's rows of one side ⋈ runs of the other. Pairs with all runs are looked at together: most of
        what that costs is calls.
        """
        is_counted, held = has_allowance(), 0
        new = asked(own.batches[0], (self.right_band, self.left_band)[side])
        for i, shares in _together(self._matching(own, runs, side, new)):
            pairs = self._equal(Found([(own.batches[0], i)]), Found(shares), side, schema)
            if pairs is not None:
                yield pairs
                if is_counted:
                    held += pairs.rows.nbytes + pairs.weights.nbytes
            may_go_on(held)

    def _matching(
        self, own: SortedRun, runs: Iterable[SortedRun], side: int, new: Asked
    ) -> Iterator[tuple[np.ndarray, Shares]]:
        """Positions of own rows, and of each the row of a run that it may meet, run by run: the shorter is
        looked up in the longer. new: what the own rows ask.
        """
        theirs = (self.left_band, self.right_band)[side]
        for run in runs:
            if len(own) <= len(run):
                owner, start, stop = new.matches(run)
                for i, j in expand_in_blocks(start, stop, PAIRS):
                    order, shares = run.shares(j)
                    yield owner[i if order is None else i[order]], shares
                continue
            for batch in run.batches:
                owner, start, stop = asked(batch, theirs).matches(own)
                for i, j in expand_in_blocks(start, stop, PAIRS):
                    yield j, [(batch, owner[i])]

    def _equal(self, own: Batch, other: Batch, side: int, schema: pa.Schema) -> ZSet | None:
        """The pairs of row n and row n whose keys are equal, and not only their hashes."""
        a, b = (own, other) if side == LEFT else (other, own)
        same = equal_columns(
            [a.column(k) for k in self.left_key], [b.column(k) for k in self.right_key], len(a)
        )
        if not every(same):
            (kept,) = same.nonzero()
            a, b = a.take(kept), b.take(kept)
        if len(a) and self._narrow is not None:
            # only what the residual reads is gathered of pairs that it leaves out
            read, residual = self._narrow
            kept = where_true(residual, self._gather(a, b, schema, read))
            if len(kept) < len(a):
                a, b = a.take(kept), b.take(kept)
        if not len(a):
            return None
        return ZSet(self._gather(a, b, schema, range(len(self.columns))), a.weights * b.weights)

    @cached_property
    def _narrow(self) -> tuple[list[int], Expression] | None:
        """The output's columns that the residual reads, and the residual over them alone."""
        if self.residual is None:
            return None
        read = sorted(set(columns_of(self.residual))) or [0]
        return read, remap(self.residual, {column: index for index, column in enumerate(read)})

    def _gather(self, left: Batch, right: Batch, schema: pa.Schema, read: Iterable[int]) -> pa.RecordBatch:
        """The output's columns `read` of pairs of left row n and right row n."""
        columns = [(left, right)[side].column(column) for side, column in (self.columns[i] for i in read)]
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema([schema.field(i) for i in read]))

    def _restricted(self, pairs: ZSet) -> ZSet:
        if self.residual is None:
            return pairs
        return pairs.take(where_true(self.residual, pairs.rows))

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        super().verify(node, inputs, where)
        left, right = inputs
        pairs_of_keys((self.left_key, self.right_key), left, right, where)
        for side, column in self.columns:
            assert column < len((left if side == LEFT else right).schema), f"{where}: no column {column}"
        if self.residual is not None:
            has_columns(self.residual, node, where)
        for band, own, other in ((self.left_band, left, right), (self.right_band, right, left)):
            if band is not None:
                _verify_band(band, own, other, where)
        lie_together(left, right, self.left_key, self.right_key, where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Output rows of a step pair a new row of one side with a row, new or old, of the other.

        A key is equal on both sides, so it is bounded by the least of both sides' bounds, if both have one.
        Another column of the left is bounded in pairs with a new left row by its own bound; in pairs of an
        old left row with a new right row only if the residual says `g(column) >= f(right)` with f(right)
        bounded and g solved for the column (`circuits/expressions/inverse.py`). Likewise the right.
        """
        left, right = inputs
        found: dict[int, Bound] = {}
        keys = {(LEFT, a): (RIGHT, b) for a, b in zip(self.left_key, self.right_key, strict=True)}
        keys.update({b: a for a, b in keys.items()})
        sides = (left, right)
        for key in both(range(len(self.columns))):
            side, column = self._source(key)
            own = sides[side].get(column)
            partner, equal = keys.get((side, column_of(column)), (side, None))
            other = None if equal is None else sides[partner].get(equal if column >= 0 else ~equal)
            if other is None:
                other = self._residual_bound(side, column, sides)
            if own is not None and other is not None:
                found[key] = least(own, other)
        return found

    def _source(self, key: int) -> tuple[int, int]:
        """(side, its column) of an output column; both mirrored where the key is of that."""
        side, column = self.columns[column_of(key)]
        return side, column if key >= 0 else ~column

    def _residual_bound(self, side: int, column: int, sides: tuple[Bounds, Bounds]) -> Bound | None:
        """The bound of a column in pairs with a new row of the other side, from `column >= f(other side)`."""
        other = sides[1 - side]
        others = taken(other, ((i, c) for i, (s, c) in enumerate(self.columns) if s != side))
        for greater, lesser in comparisons(self.residual):
            bound = bound_of(lesser, others)
            found = None if bound is None else solved(greater, bound)
            if found is not None and self._source(found[0]) == (side, column):
                return found[1]
        return None

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """One side's rows are looked up by new rows of the *other* side.

        So by its bounds on the key, and by what the residual then demands of this side's columns.
        """
        own_key = (self.left_key, self.right_key)[position]
        other_key = (self.right_key, self.left_key)[position]
        other = inputs[1 - position]
        limits = list(of_pairs(other, zip(own_key, other_key, strict=True)))
        columns = {i: column for i, (side, column) in enumerate(self.columns) if side == position}
        others = taken(other, ((i, c) for i, (s, c) in enumerate(self.columns) if s != position))
        for greater, lesser in comparisons(self.residual):
            bound = bound_of(lesser, others)
            if (
                bound is not None
                and set(columns_of(greater)) <= set(columns)
                and any(True for _ in columns_of(greater))
            ):
                limits.append(Limit(remap(greater, columns), bound))
        return tuple(limits)

    def takes_bag(self, position: int) -> bool:
        """Pairs of a row that is listed twice are listed twice."""
        return True

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return self.columns[column]

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        on = f"on {listed(inputs[0], self.left_key)} = {listed(inputs[1], self.right_key)}"
        if not self.left_key:
            banded = self.left_band is not None or self.right_band is not None
            on = "pairs within a range" if banded else "every pair"
        return on + ("" if self.residual is None else f" and {spelled(self.residual, names)}")


def _together(
    found: Iterable[tuple[np.ndarray, Shares]],
) -> Iterator[tuple[np.ndarray, Shares]]:
    """Of a few runs at a time, at most about PAIRS pairs unless one has more."""
    owners: list[np.ndarray] = []
    shares: Shares = []
    count = 0
    for i, there in found:
        if owners and count + len(i) > PAIRS:
            yield np.concatenate(owners), shares
            owners, shares, count = [], [], 0
        owners.append(i)
        shares += there
        count += len(i)
    if owners:
        yield np.concatenate(owners), shares


def lie_together(
    left: Node, right: Node, left_key: tuple[int, ...], right_key: tuple[int, ...], where: str
) -> None:
    """Rows that are compared lie in one place. Raises AssertionError."""
    assert found_by(left) == left_key, f"{where}: left rows lie by {left.placement}"
    assert found_by(right) == right_key, f"{where}: right rows lie by {right.placement}"
    assert left.placement == right.placement or () not in (left.placement, right.placement), (
        f"{where}: one side is gathered"
    )


def _verify_band(band: Band, own: Node, other: Node, where: str) -> None:
    assert isinstance(own.operator, Integrate), f"{where}: a band of no trace of its own"
    assert own.operator.order == band.column, f"{where}: a band of {band.column}, not of the trace's order"
    for bound in band.bounds:
        has_columns(bound, other, where)
    ordered = own.schema.field(band.column).type
    assert band.orders(ordered), f"{where}: a band of another type than {ordered}"
