"""Top-k: of each partition the rows whose rank in an order is at most k.

    top^Δ(d) = −(z⁻¹(I)|T)≤ₖ + (I|T)≤ₖ        T = partitions of d,   a≤ₖ = { x ∈ a : rank(x) <= k }

Where the input can retract, any of its rows may come up: they are all kept, ordered within the partition, and
the outermost are fetched until k are complete (`circuits/operators/joins/outermost.py`). Where it can't, (a +
b)≤ₖ = (a≤ₖ + b)≤ₖ: what was left out once stays out, and the rows put out are all there is to keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, fixed_values, take
from dbsp.circuits.columns.groups import groups_of
from dbsp.circuits.columns.sorting import SortKey, sort_rows
from dbsp.circuits.columns.stacked import Stacked
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.operators.families import Keeper, Reader
from dbsp.circuits.operators.groups.touched import (
    Side,
    Touched,
    difference,
    held_rows,
    list_rows,
    of_groups,
)
from dbsp.circuits.operators.groups.windows.calls import WindowFunction
from dbsp.circuits.operators.groups.windows.functions import evaluate_window
from dbsp.circuits.operators.groups.windows.partitions import Partitions
from dbsp.circuits.operators.joins.edges import Finer
from dbsp.circuits.operators.joins.outermost import outermost
from dbsp.circuits.operators.legal import lies_by
from dbsp.circuits.operators.operator import Context, Node, Placement, Value, delta_of
from dbsp.circuits.operators.shown import listed, ordered
from dbsp.circuits.progress.bounds import Lines, of_partition
from dbsp.circuits.progress.limits import Limits, of_columns
from dbsp.circuits.traces.batch import Batch, consolidated
from dbsp.circuits.traces.layout import Layout, of_placement
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

_FIRST_FETCH = 4


@dataclass(frozen=True)
class Top(Reader):
    """Input: an Integrate node placed by exactly `partition`, ordered by the first column of `order`.

    ranking: 'row_number', 'rank' or 'dense_rank'. Output: the input's rows, then the rank if `ranked`.
    made: see `Window`.
    State: the trace that is read.  Cost: O((k + log |I|)) a partition and run, as long as few of its
    outermost rows have been retracted.
    """

    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    ranking: str
    size: int
    ranked: bool = False
    made: tuple[Expression, ...] = ()

    @property
    def cost(self) -> str:
        return f"the first {self.size} rows of touched partitions"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0].append(pa.field("rank", pa.int32())) if self.ranked else inputs[0]

    def step(self, context: Context, *inputs: Value) -> ZSet:
        (integral,) = inputs
        assert isinstance(integral, Integral)
        schema = self.schema(integral.layout.schema)
        if not len(integral.delta):
            return ZSet.empty(schema)
        groups = groups_of(integral.delta.rows, self.partition, context.seed)
        least, greatest = of_placement(integral.delta.keys[groups.first])
        left, fetch = np.arange(len(least)), max(_FIRST_FETCH, 2 * self.size)
        parts: list[ZSet] = []
        finer = None
        while len(left):
            fetched = outermost(
                integral.before,
                groups.keys,
                left,
                least[left],
                greatest[left],
                self.partition,
                self.order[0].descending,
                fetch,
                finer,
            )
            place = np.full(len(least), -1, dtype=np.int64)
            place[left] = np.arange(len(left))
            owned = [(place[groups.owner], integral.delta), *fetched.parts]
            complete = []
            for owner, batch in owned:
                kept = np.flatnonzero((owner >= 0) & fetched.is_complete(owner, batch))
                complete.append((owner[kept], batch.take(kept)))
            touched = list_rows(
                integral.layout, [], len(left), complete[1:], complete[0], self.order, context.seed
            )
            sides = [self._side(touched, weights) for weights in (touched.before, touched.after)]
            decided = fetched.everything | np.logical_and.reduce(
                [self._is_full(touched, weights) for weights in (touched.before, touched.after)]
            )
            before, after = (of_groups(side, decided[touched.group]) for side in sides)
            parts.append(difference(schema, touched.rows, before, after, context.seed))
            left, fetch = left[~decided], fetch * 8
            finer = Finer(self.order, whole=self.ranking == "row_number")
        return ZSet.sum(schema, parts)

    def _is_full(self, touched: Touched, weights: np.ndarray) -> np.ndarray:
        """bool per group: whether the rows listed on this side are enough to rank k of them."""
        if self.ranking != "dense_rank":
            return touched.sizes(weights) >= self.size
        there = np.flatnonzero(weights)
        opens = np.diff(touched.peers[there], prepend=-1) != 0
        return np.bincount(touched.group[there[opens]], minlength=touched.count) >= self.size

    def _side(self, touched: Touched, weights: np.ndarray) -> Side:
        """The copies of rows with a rank of at most k, and their ranks if they are put out."""
        everywhere = np.arange(len(weights))
        row, ranks = _ranked(everywhere, touched.group, touched.peers, weights, self.ranking)
        kept = np.flatnonzero(ranks <= self.size)
        return row[kept], [pa.array(ranks[kept].astype(np.int32))] if self.ranked else []

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[0]

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        super().verify(node, inputs, where)
        assert self.order, f"{where}: nothing to order by"
        assert all(0 <= by.column < len(inputs[0].schema) for by in self.order), f"{where}: no column"
        lies_by(inputs[0], self.partition, where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A delta puts out rows of its partitions: of any age, but with their keys."""
        return of_partition(self.partition, self.made, inputs[0])

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """A partition is listed when a new row has its keys."""
        return of_columns(inputs[0], self.partition)

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < len(inputs[0]) else None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """A row in between changes others' ranks."""
        return True

    def rows_a_value(self, width: int) -> tuple[tuple[int, ...], str] | None:
        return _rows_of_each(self.partition, self.ranking, self.size) or super().rows_a_value(width)

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        by = f"by {listed(inputs[0], self.partition)}"
        return f"{self.size} {by} {self.ranking} ordered by {ordered(self.order, inputs[0])}"


@dataclass(frozen=True)
class TopOfAppends(Keeper):
    """Top of an input that never retracts, placed by `partition`. Output: rows, then the rank if `ranked`.

    made: see `Window`.
    State: the rows put out, by partition.  Cost: O(k + log |top|) a partition.
    """

    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    ranking: str
    size: int
    ranked: bool = False
    made: tuple[Expression, ...] = ()

    is_trace: ClassVar[bool] = True

    @property
    def cost(self) -> str:
        return f"the first {self.size} rows of touched partitions"

    def placement(self, *inputs: Placement) -> Placement:
        return self.partition

    def layout(self, *inputs: pa.Schema) -> Layout:
        return Layout(self.schema(*inputs), self.partition)

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Integral:
        delta = delta_of(inputs[0])
        groups = groups_of(delta.rows, self.partition, context.seed)
        reached = Integral(layout, before, Batch.empty(layout))
        owner, kept = held_rows(reached, groups, self.partition)
        # new rows cancel none: equal ones need not be found, they are copies, side by side once sorted
        new, was = len(delta), kept.rows.select(list(range(len(delta.schema))))
        group = np.concatenate([groups.owner, owner])
        copies = np.concatenate([delta.weights, kept.weights])
        row, ranks = self._first(Stacked(delta.schema, [delta.rows, was]), group, copies)
        stays = row >= new
        if self.ranked:
            ranked = fixed_values(kept.rows.column(len(delta.schema)))
            stays &= ranks == np.concatenate([np.zeros(new, np.int32), ranked])[row]
        left = np.bincount(row[stays], minlength=len(copies))[new:]
        gone = np.flatnonzero(left != kept.weights)
        came = ~stays & (row < new)
        coming = [self._rows(layout.schema, take(delta.rows, row[came]), ranks[came])]
        if self.ranked:
            moved = ~stays & (row >= new)  # within its partition
            coming.append(self._rows(layout.schema, take(was, row[moved] - new), ranks[moved]))
        keys = np.concatenate([*(layout.sort_keys(rows, context.seed) for rows in coming), kept.keys[gone]])
        rows = concat(layout.schema, [*coming, take(kept.rows, gone)])
        weights = np.ones(len(keys), np.int64)
        weights[len(keys) - len(gone) :] = (left - kept.weights)[gone]
        return Integral(layout, before, consolidated(layout, keys, rows, weights, presorted=False))

    def _first(
        self, rows: pa.RecordBatch | Stacked, group: np.ndarray, copies: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(row int64[n], rank int64[n]) of the copies with a rank of at most k."""
        by, peers = sort_rows(rows, group, self.order)
        row, ranks = _ranked(by, group[by], peers, copies[by], self.ranking)
        first = np.flatnonzero(ranks <= self.size)
        return row[first], ranks[first]

    def reduced(self, delta: ZSet, rows: np.ndarray, seed: int) -> ZSet | None:
        """(a + b)≤ₖ = (a≤ₖ + b)≤ₖ"""
        delta = delta.take(rows)
        groups = groups_of(delta.rows, self.partition, seed)
        row, _ = self._first(delta.rows, groups.owner, delta.weights)
        copies = np.bincount(row, minlength=len(delta))
        (kept,) = copies.nonzero()
        return ZSet(take(delta.rows, kept), copies[kept])

    def _rows(self, schema: pa.Schema, rows: pa.RecordBatch, ranks: np.ndarray) -> pa.RecordBatch:
        columns = [*rows.columns, *([pa.array(ranks.astype(np.int32))] if self.ranked else [])]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0].append(pa.field("rank", pa.int32())) if self.ranked else inputs[0]

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        assert self.order, f"{where}: nothing to order by"
        assert all(0 <= by.column < len(inputs[0].schema) for by in self.order), f"{where}: no column"
        lies_by(inputs[0], self.partition, where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A delta puts out rows of its partitions: of any age, but with their keys."""
        return of_partition(self.partition, self.made, inputs[0])

    def own_reach(self, inputs: Sequence[Bounds]) -> Limits | None:
        """A partition's rows are compared with new ones of the partition."""
        return of_columns(inputs[0], self.partition)

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < len(inputs[0]) else None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """A row in between changes others' ranks."""
        return True

    def rows_a_value(self, width: int) -> tuple[tuple[int, ...], str] | None:
        return _rows_of_each(self.partition, self.ranking, self.size) or super().rows_a_value(width)

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        by = f"by {listed(inputs[0], self.partition)}"
        return f"{self.size} {by} {self.ranking} ordered by {ordered(self.order, inputs[0])}"


def _rows_of_each(partition: tuple[int, ...], ranking: str, size: int) -> tuple[tuple[int, ...], str] | None:
    """`Operator.rows_a_value`; None: of those that tie a rank takes all."""
    return (partition, f"being the first {size} rows") if ranking == "row_number" else None


def _ranked(
    row: np.ndarray, group: np.ndarray, peers: np.ndarray, weights: np.ndarray, ranking: str
) -> tuple[np.ndarray, np.ndarray]:
    """(row int64[n], rank int64[n]) of every copy of sorted rows. row: where each of them is."""
    row, group, peers = (np.repeat(one, weights) for one in (row, group, peers))
    rows = Partitions(_NO_COLUMNS, row, group, peers, ())
    ranks = evaluate_window(WindowFunction(ranking, pa.int64()), rows)
    return row, np.asarray(ranks.to_numpy(zero_copy_only=False))


# ranks look at places alone
_NO_COLUMNS = pa.RecordBatch.from_arrays([], names=[])
