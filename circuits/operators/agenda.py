"""Agenda: which keys have something to do when the clock, a waterline or the event time gets there.

    I(a)ₜ = { (key, instant) : instant not passed at t }        a = +scheduled − due

A *timeline* trace, so that a step reads the entries between the threshold of the step before and this one's,
and no other. A key that is touched again gets a further entry; it is its reader that knows whether an entry
still stands. So each entry is written once and read once.  State: that trace.  Cost: O(|d| + due), amortised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from circuits.arrow import concat, fixed_values, take, validity
from circuits.batch import SLOTS, Batch, Layout
from circuits.expressions.evaluate import evaluate
from circuits.expressions.nodes import Expression
from circuits.operator import Context, Operator, Placement, Value, delta_of
from circuits.operators.progress import Threshold, reached
from circuits.ordering import order_steps
from circuits.stretch import stretches
from circuits.trace import Integral, expand_ranges
from circuits.waterline import CLOCK
from circuits.zset import ZSet

AT = "__at"
_TIMES = np.arange(SLOTS, dtype=np.uint64) << np.uint64(56)


@dataclass(frozen=True)
class After:
    """`delay` microseconds from now on the step clock."""

    delay: int

    @property
    def type(self) -> pa.DataType:
        return CLOCK.type

    def next(self, keys: pa.RecordBatch, now: pa.Scalar | None) -> pa.Array:
        at = None if now is None else now.value + self.delay
        return pa.array([at], self.type).take(pa.array(np.zeros(keys.num_rows, np.int64)))


@dataclass(frozen=True)
class At:
    """When what is watched passes a value of the key itself."""

    value: Expression

    @property
    def type(self) -> pa.DataType:
        return self.value.type

    def next(self, keys: pa.RecordBatch, now: pa.Scalar | None) -> pa.Array:
        return evaluate(self.value, keys)


@dataclass(frozen=True)
class Timetable:
    """Instants relative to `end`, of a window: first, first + every, … < complete, complete, last.

    All in microseconds; every: None for no instant between the first and the complete one.
    """

    end: Expression
    first: int
    every: int | None
    complete: int
    last: int

    @property
    def type(self) -> pa.DataType:
        return self.end.type

    def next(self, keys: pa.RecordBatch, now: pa.Scalar | None) -> pa.Array:
        """The first instant after `now`; NULL after the last."""
        end = evaluate(self.end, keys)
        times, never = self.after(fixed_values(end), now)
        return pa.array(times, mask=never | ~validity(end)).cast(self.type)

    def after(self, end: np.ndarray, now: pa.Scalar | None) -> tuple[np.ndarray, np.ndarray]:
        """(int64[n], bool[n]): the first instant after `now`, and where there is none any more."""
        first, complete, last = end + self.first, end + self.complete, end + self.last
        if now is None:
            return first, np.zeros(len(end), dtype=np.bool_)
        at = np.where(now.value < complete, complete, last)
        if self.every is not None:
            grid = first + ((now.value - first) // self.every + 1) * self.every
            at = np.where(grid < complete, grid, at)
        return np.where(now.value < first, first, at), now.value >= last


@dataclass(frozen=True)
class Agenda(Operator):
    """Inputs: keys that were touched, any number of times; then what `Proved` says.

    instants: when a touched key is due. again: a key that came due is scheduled for its next instant.
    Readers find the keys that came due as what the trace's delta retracts; what is due in the very step that
    it is touched in is never written.
    """

    placed_by: tuple[int, ...]
    instants: After | At | Timetable
    threshold: Threshold
    again: bool = False

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0].append(pa.field(AT, self.instants.type))

    def placement(self, *inputs: Placement) -> Placement:
        return self.placed_by

    def layout(self, *inputs: pa.Schema) -> Layout:
        return Layout(self.schema(*inputs), self.placed_by, order=len(inputs[0]), timeline=True)

    def integrate(
        self, context: Context, layout: Layout, before: tuple[Batch, ...], *inputs: Value
    ) -> Integral:
        earlier = self.threshold.value(context.waterlines)
        now = self.threshold.value(reached(context, inputs[1:]))
        if context.ending:
            everything = Batch.merge(layout, list(before))
            return Integral(layout, before, Batch(everything.keys, everything.rows, -everything.weights))
        due = ZSet.sum(layout.schema, list(self._due(before, earlier, now)))
        touched = delta_of(inputs[0]).rows
        keys = [touched]
        if self.again and len(due):
            keys.append(due.rows.select(list(range(touched.num_columns))))
        scheduled = self._scheduled(concat(touched.schema, keys), now, layout.schema)
        delta = ZSet.sum(layout.schema, [scheduled, -due])
        return Integral(layout, before, Batch.build(layout, delta, context.seed))

    def _scheduled(self, keys: pa.RecordBatch, now: pa.Scalar | None, schema: pa.Schema) -> ZSet:
        at = self.instants.next(keys, now)
        rows = pa.RecordBatch.from_arrays([*keys.columns, at], schema=schema)
        later = np.flatnonzero(validity(at) & ~self._passed(at, now))
        return ZSet(take(rows, later), np.ones(len(later), dtype=np.int64))

    def _due(
        self, before: tuple[Batch, ...], earlier: pa.Scalar | None, now: pa.Scalar | None
    ) -> Iterator[ZSet]:
        if now is None:
            return
        to = _TIMES | order_steps(pa.array([now], now.type))
        since = _TIMES if earlier is None else _TIMES | order_steps(pa.array([earlier], earlier.type))
        for stretch in stretches(before):
            _, there = expand_ranges(*stretch.ranges(since, to))
            if len(there):
                found = stretch.take(there)
                at = found.rows.column(found.rows.num_columns - 1)
                passed = np.flatnonzero(self._passed(at, now) & ~self._passed(at, earlier))
                yield found.zset.take(passed)

    def _passed(self, at: pa.Array, threshold: pa.Scalar | None) -> np.ndarray:
        """bool[n]; an entry that is NULL is anything."""
        if threshold is None:
            return np.zeros(len(at), dtype=np.bool_)
        compare = pc.less_equal if self.threshold.at_once else pc.less
        return np.asarray(pc.fill_null(compare(at, threshold), False).to_numpy(zero_copy_only=False))
