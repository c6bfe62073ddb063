"""Sessions: the rows of a partition whose intervals overlap, or touch, belong together.

Rows have intervals [start, end]. In order of start, a row opens a session iff it is the first of its
partition or its start is greater than every end before it:

    opens(i) = start(i) > max { end(j) : j < i }
    session_start = start of the row that opens it          session_end = the greatest end in it

    sessions^Δ(d) = −A + s(A + d)       A: rows put out whose session touches what the rows of d span

Sessions are maximal: one that none of the new rows touches stays as it is, and so do all whose end is below
every new row's start. That is why rows can be collected by their session's end.

Source: Spark's session_window, whose windows are half-open, but merge where one ends when the next starts.
State: the rows put out, by partition and start of their session.  Cost: O(r log r) for the r rows of the
sessions from the last before a partition's new rows to the last that begins with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, fixed_values, from_fixed_values, int64_array, take
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.groups import Groups, groups_of
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.order_codes import has_order_bits, order_code
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Keeper
from dbsp.circuits.operators.groups.nearby import Near, nearby
from dbsp.circuits.operators.groups.touched import each_once, held_rows
from dbsp.circuits.operators.legal import lies_by
from dbsp.circuits.operators.operator import Context, Node, Placement, Value, delta_of
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.progress.bounds import Lines, of_columns_alone
from dbsp.circuits.progress.limits import Limits, of_bounds
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import HIGH, Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Sessions(Keeper):
    """Input: placed by `partition`, with the columns `start` and `end`, which are never NULL.

    Output: its rows, then start and end of their session.
    """

    partition: tuple[int, ...]
    start: int
    end: int
    output: pa.Schema

    @property
    def cost(self) -> str:
        return "sessions near the changed rows"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.output

    def placement(self, *inputs: Placement) -> Placement:
        return self.partition

    def layout(self, *inputs: pa.Schema) -> Layout:
        return Layout(self.output, self.partition, order=len(self.output) - 2)

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Integral:
        delta = delta_of(inputs[0])
        if not len(delta):
            return Integral(layout, before, Batch.empty(layout))
        groups = groups_of(delta.rows, self.partition, context.seed)
        spans = tuple(fixed_values(delta.rows.column(i)) for i in (self.start, self.end))
        stored = Integral(layout, before, Batch.empty(layout))
        owner, found = self._near(stored, groups, *spans) or self._within(stored, groups, *spans)
        held = found.zset
        after = self._summed(delta, held, np.concatenate([groups.owner, owner]), context.seed)
        change = ZSet.sum(layout.schema, [self._sessions(layout.schema, *after), -held])
        return Integral(layout, before, Batch.build(layout, change, context.seed))

    def _near(
        self, stored: Integral, groups: Groups, start: np.ndarray, end: np.ndarray
    ) -> tuple[np.ndarray, Batch] | None:
        """(group, row) of sessions near the given intervals, all that touch one among them: such a session
        begins in the interval, or is the last to begin before it. None: all of the groups are to be read.
        """
        kind, places = self.output.field(self.start).type, (groups.hashes & HIGH)[groups.owner]
        first, last = (places | order_code(from_fixed_values(edge, kind)) for edge in (start, end))
        found = nearby(stored.before, groups, self.partition, Near(first, last, groups.owner, 1, 0))
        return None if found is None else each_once(stored.layout, found.rows)

    def _within(
        self, stored: Integral, groups: Groups, start: np.ndarray, end: np.ndarray
    ) -> tuple[np.ndarray, Batch]:
        """(group, row) of the sessions that touch what all of a group's intervals span."""
        owner, held = held_rows(stored, groups, self.partition)
        first, last = (fixed_values(column) for column in held.rows.columns[-2:])
        least, greatest = groups.total(start, np.minimum), groups.total(end, np.maximum)
        touched = np.flatnonzero((last >= least[owner]) & (first <= greatest[owner]))
        return owner[touched], held.take(touched)

    def _summed(self, delta: ZSet, held: ZSet, owner: np.ndarray, seed: int) -> tuple[ZSet, np.ndarray]:
        """(the rows of both without sessions, each once, the group of each)"""
        width = delta.rows.num_columns
        rows = concat(delta.rows.schema, [delta.rows, held.rows.select(list(range(width)))])
        same, starts = group_rows(rows.columns, hash_rows(rows.columns, rows.num_rows, seed))
        totals = np.add.reduceat(np.concatenate([delta.weights, held.weights])[same], starts)
        there = np.flatnonzero(totals)
        kept = same[starts[there]]
        return ZSet(take(rows, kept), totals[there]), owner[kept]

    def _sessions(self, schema: pa.Schema, rows: ZSet, owner: np.ndarray) -> ZSet:
        """The rows with their sessions; a row of negative weight, not there yet, has its own interval."""
        there = rows.weights > 0
        start, end = (fixed_values(rows.rows.column(i)) for i in (self.start, self.end))
        order = np.lexsort((start, owner, ~there))[: np.count_nonzero(there)]
        opener, closer = np.arange(len(rows)), np.arange(len(rows))
        opener[order], closer[order] = _merged(owner[order], start[order], end[order], order)
        sides = (
            rows.rows.column(i).take(int64_array(at)) for i, at in ((self.start, opener), (self.end, closer))
        )
        return ZSet(pa.RecordBatch.from_arrays([*rows.rows.columns, *sides], schema=schema), rows.weights)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        start, end = (inputs[0].schema.field(i).type for i in (self.start, self.end))
        assert start == end and has_order_bits(start), f"{where}: sessions from {start} to {end}"
        assert self.output.types == [*inputs[0].schema.types, start, end], f"{where}: output"
        lies_by(inputs[0], self.partition, where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Besides the partition's keys, the end of a changed session: no less than a new row's start.

        A session that rows join ends after their start. Where rows leave it and it falls apart, each part but
        the last was connected to a row that left: the part's end is no less than that row's start.
        """
        bounds = dict(of_columns_alone(inputs[0], self.partition))
        if self.start in inputs[0]:
            bounds[len(self.output) - 1] = inputs[0][self.start]
        return bounds

    def own_reach(self, inputs: Sequence[Bounds]) -> Limits | None:
        """Of a partition, sessions are compared with new rows that start before they end."""
        return of_bounds(self.bounds(inputs, {}))

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < len(inputs[0]) else None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """A row joins sessions, whose rows are put out anew."""
        return True

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        by = listed(inputs[0], self.partition)
        return f"by {by} from {inputs[0][self.start]} to {inputs[0][self.end]}"


def _merged(
    group: np.ndarray, start: np.ndarray, end: np.ndarray, names: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Per row, by group and start, the names of the row that opens its session and of one with its end."""
    count = len(start)
    by_end = np.argsort(end, kind="stable")
    rank = np.empty(count, dtype=np.int64)
    rank[by_end] = np.arange(count)
    fresh = np.diff(group, prepend=-1) != 0
    # a group's ranks are above all of those before it, so that one running maximum serves all
    above = (np.cumsum(fresh) - 1) * count
    furthest = by_end[np.maximum.accumulate(above + rank) - above]
    opens = fresh.copy()
    opens[1:] |= start[1:] > end[furthest[:-1]]
    first = np.flatnonzero(opens)
    session = np.cumsum(opens) - 1
    closes = np.append(first[1:], count) - 1
    return names[first[session]], names[furthest[closes[session]]]
