"""Timers: which keys have something to do when the clock, a waterline or the event time gets there.

    I(a)ₜ = { (key, instant) : instant not passed at t }        a = +scheduled − due

A *timeline* trace, so that a step reads the entries between the threshold of the step before and this one's,
and no other. A key that is touched again gets a further entry; it is its reader that knows whether an entry
still stands. So each entry is written once and read once.  State: that trace.  Cost: O(|d| + due), amortised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, fixed_values, take, validity
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.clock.forecast import at_clock, first_passed
from dbsp.circuits.operators.families import Keeper
from dbsp.circuits.operators.inputs.thresholds import Threshold, reached
from dbsp.circuits.operators.legal import lies_by
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Standing, Value, delta_of
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.waterline import CLOCK, Waterlines
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun, batches_of
from dbsp.circuits.traces.timeline import due, passed
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

AT = "__at"


@dataclass(frozen=True)
class After:
    """`delay` microseconds from now on the step clock."""

    delay: int

    @property
    def type(self) -> pa.DataType:
        return CLOCK.type

    def next(self, keys: pa.RecordBatch, now: pa.Scalar | None) -> pa.Array:
        instant = None if now is None else now.value + self.delay
        return pa.array([instant], self.type).take(pa.array(np.zeros(keys.num_rows, np.int64)))


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
        times, never = self.after(evaluate(self.end, keys), now)
        return pa.array(times, mask=never).cast(self.type)

    def after(self, ends: pa.Array, now: pa.Scalar | None) -> tuple[np.ndarray, np.ndarray]:
        """(int64[n], bool[n]): the first instant after `now`, and where there is none any more, or no end."""
        end, endless = fixed_values(ends), ~validity(ends)
        first, complete, last = end + self.first, end + self.complete, end + self.last
        if now is None:
            return first, endless
        instant = np.where(now.value < complete, complete, last)
        if self.every is not None:
            grid = first + ((now.value - first) // self.every + 1) * self.every
            instant = np.where(grid < complete, grid, instant)
        return np.where(now.value < first, first, instant), endless | (now.value >= last)


@dataclass(frozen=True)
class Timers(Keeper):
    """Inputs: keys that were touched, any number of times; then what `Proved` says.

    instants: when a touched key is due. again: a key that came due is scheduled for its next instant.
    Readers find the keys that came due as what the trace's delta retracts; what is due in the very step that
    it is touched in is never written.
    """

    history: ClassVar[str] = "TRIGGER or EMIT: what has left already"

    placed_by: tuple[int, ...]
    instants: After | At | Timetable
    threshold: Threshold
    again: bool = False

    @property
    def watches_clock(self) -> bool:
        """Whether entries come due by the step clock alone."""
        return self.threshold.lateness == (CLOCK,)

    @property
    def at_once(self) -> bool:
        return self.threshold.at_once

    def reading(self, waterlines: Waterlines) -> pa.Scalar | None:
        """What has been passed by now."""
        return self.threshold.value(waterlines)

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0].append(pa.field(AT, self.instants.type))

    def placement(self, *inputs: Placement) -> Placement:
        return self.placed_by

    def layout(self, *inputs: pa.Schema) -> Layout:
        return Layout(self.schema(*inputs), self.placed_by, order=len(inputs[0]), timeline=True)

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Integral:
        earlier = self.reading(context.waterlines)
        now = self.reading(reached(context, inputs[1:]))
        if context.ending:
            everything = Batch.merge(layout, batches_of(before))
            return Integral(layout, before, Batch(everything.keys, everything.rows, -everything.weights))
        came = ZSet.sum(layout.schema, list(due(layout, before, earlier, now, self.at_once)))
        touched = delta_of(inputs[0]).rows
        keys = [touched]
        if self.again and len(came):
            keys.append(came.rows.select(list(range(touched.num_columns))))
        scheduled = self._scheduled(concat(touched.schema, keys), now, layout.schema)
        delta = ZSet.sum(layout.schema, [scheduled, -came])
        return Integral(layout, before, Batch.build(layout, delta, context.seed))

    def _scheduled(self, keys: pa.RecordBatch, now: pa.Scalar | None, schema: pa.Schema) -> ZSet:
        instants = self.instants.next(keys, now)
        rows = pa.RecordBatch.from_arrays([*keys.columns, instants], schema=schema)
        later = np.flatnonzero(validity(instants) & ~passed(instants, now, self.at_once))
        return ZSet(take(rows, later), np.ones(len(later), dtype=np.int64))

    @property
    def cost(self) -> str:
        return "linear"

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        lies_by(inputs[0], self.placed_by, where, "keys")
        assert len(self.placed_by) <= len(inputs[0].schema), f"{where}: more placed by than keys"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < len(inputs[0]) else None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """A key that is touched again gets a further entry."""
        return None

    def own_bound(self) -> str | None:
        return "what is still to come due"

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """When its first entry comes due by the clock; waterlines rise with input alone."""
        return first_passed(own(), self._read, self.at_once, now) if self.watches_clock else None

    def _read(self, clock: int) -> pa.Scalar | None:
        return self.reading(at_clock(clock))

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return True

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        watched = ", ".join(one.name for one in self.threshold.lateness)
        return f"by {listed(inputs[0], range(len(self.placed_by)))} watching {watched}"
