"""Trigger: which keys of a view have their changes emitted at the end of this step.

A key is *pending* while records have reached it since it last fired. Per key: whether it is pending, the
records counted, the deadline on the step clock; additive, so that a row of the trace is a key. It fires when
one of the conditions holds:

    counting n      its count crosses a multiple of n; the remainder stays
    delay           it was pending for that long on the step clock when this step began, since its last
                    record, or, paced, its first
    passed          it is pending, and an expression of the key is below a threshold
    schedule        one of its instants came, or a late row (see `agenda.Timetable`)
    the end         it is pending, and no input will follow

The one row of an aggregation without GROUP BY is there before any record: so it is pending, and no delay
holds it up.

Firing for one condition resets the others. Only keys that records reach, or that an `Timers` says are due,
are looked up.  State: pending keys, and remainders of counts of keys that are in the view.
Cost: O((touched + due) log |I|) a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import concat, fixed_values, is_true, take, validity
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.emission.timers import Timers, Timetable
from dbsp.circuits.operators.families import Keeper
from dbsp.circuits.operators.inputs.thresholds import Threshold, reached
from dbsp.circuits.operators.legal import lies_by
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Standing, Value, delta_of
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.operators.streams import Integrate, Remembered
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limits
from dbsp.circuits.progress.waterline import CLOCK, Waterlines
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun, batches_of
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

STATE = "__state"
EARLY, COMPLETE, FINAL = "early", "complete", "final"


@dataclass(frozen=True)
class Passed:
    """Of a key: that `value` is below the threshold, so that no input will change it any more."""

    value: Expression
    threshold: Threshold


@dataclass(frozen=True)
class Schedule:
    """rows: records between two early firings, None where `table.every` says when. late: rows after the
    complete result fire too. flagged: what is emitted says which state of the result it is.
    """

    table: Timetable
    threshold: Threshold
    rows: int | None
    late: bool
    flagged: bool


@dataclass(frozen=True)
class Trigger(Keeper):
    """Inputs: records (keys, their weight the number), the view's trace, the agendas, what `Proved` says.

    key: the key's columns in the view. paced: the delay is since the first record that waits. Output: the
    keys that fire, with the result's state if flagged.
    """

    history: ClassVar[str] = "TRIGGER or EMIT: what has left already"

    key: tuple[int, ...]
    agendas: int
    counting: int | None = None
    delay: int | None = None
    passed: tuple[Passed, ...] = ()
    schedule: Schedule | None = None
    paced: bool = False

    @property
    def flagged(self) -> bool:
        """Whether it says which state of the result fires."""
        return self.schedule is not None and self.schedule.flagged

    @property
    def timers(self) -> slice:
        """Which of its inputs say what keys are due."""
        return slice(2, 2 + self.agendas)

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0].append(pa.field(STATE, pa.string())) if self.flagged else inputs[0]

    def placement(self, *inputs: Placement) -> Placement:
        return tuple(range(len(self.key)))

    def layout(self, *inputs: pa.Schema) -> Layout:
        keys = inputs[0]
        schema = keys.append(pa.field("__count", pa.int64())).append(pa.field("__deadline", pa.int64()))
        return Layout(schema, tuple(range(len(self.key))), sums=(len(keys), len(keys) + 1))

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Remembered:
        agendas = inputs[self.timers]
        earlier, now = context.waterlines, reached(context, inputs[2 + self.agendas :])
        pending = Batch.merge(layout, batches_of(before)) if context.ending else Batch.empty(layout)
        records = delta_of(inputs[0])
        # the one row of a global aggregation is there before any record
        unasked = not self.key and not len(records) and len(delta_of(inputs[1])) > 0
        if unasked:
            records = ZSet(_everything(records.schema), np.zeros(1, dtype=np.int64))
        asked = _asked(layout, records, agendas, pending, context.seed)
        known = _known(layout, before, asked, context.seed)
        if unasked:
            known.pending[:] = True
        clock = now[CLOCK.name].value if CLOCK.name in now else None
        fires, count, state = self._fires(asked, known, clock, earlier, now, context.ending)
        waits = (known.pending | (asked.records > 0)) & ~fires
        deadline = np.zeros(len(count), dtype=np.int64)
        if self.delay is not None and clock is not None:
            set_anew = (asked.records > 0) & ~(known.pending & self.paced)
            deadline = np.where(set_anew, clock + self.delay, known.deadline)
            deadline = np.where(waits, deadline, 0)
        if (count > 0).any():
            gone = fires.copy()
            gone[fires] = ~self._is_there(inputs[1], asked.keys, np.flatnonzero(fires), context.seed)
            count = np.where(gone, 0, count)
        columns = [*asked.keys.columns, pa.array(count - known.count), pa.array(deadline - known.deadline)]
        change = waits.astype(np.int64) - known.weight
        delta = ZSet(pa.RecordBatch.from_arrays(columns, schema=layout.schema), change)
        fired = np.flatnonzero(fires)
        output = take(asked.keys, fired)
        if state is not None:
            output = output.append_column(pa.field(STATE, pa.string()), state.take(pa.array(fired)))
        return Remembered(
            layout,
            before,
            Batch.build(layout, delta, context.seed),
            ZSet(output, np.ones(len(fired), dtype=np.int64)),
        )

    def _fires(
        self,
        asked: _Asked,
        known: _Known,
        clock: int | None,
        earlier: Waterlines,
        now: Waterlines,
        ending: bool,
    ) -> tuple[np.ndarray, np.ndarray, pa.Array | None]:
        """(bool[n]: fires, int64[n]: the count afterwards, the state of each result if flagged)."""
        pending = known.pending | (asked.records > 0)
        count = known.count + asked.records
        fires = pending & ending
        if self.delay is not None and clock is not None:
            fires |= known.pending & (known.deadline <= clock)
            fires |= (asked.records > 0) & (self.delay == 0)
        for one in self.passed:
            threshold = one.threshold.value(now)
            if threshold is not None:
                fires |= pending & is_true(pc.less(evaluate(one.value, asked.keys), threshold))
        state, every, counts = None, self.counting, np.ones(len(count), dtype=np.bool_)
        if self.schedule is not None:
            came, counts, state = _came(self.schedule, asked, earlier, now, ending)
            fires |= came
            every = self.schedule.rows
        if every is None:
            return fires, np.zeros(len(count), dtype=np.int64), state
        counted = counts & (asked.records > 0) & (count >= every)
        return fires | counted, np.where(counted, count % every, np.where(fires, 0, count)), state

    def _is_there(self, view: Value, keys: pa.RecordBatch, rows: np.ndarray, seed: int) -> np.ndarray:
        """bool[n]: whether the view has rows of the key after the step."""
        assert isinstance(view, Integral)
        wanted = take(keys.select(list(range(len(self.key)))), rows).columns if self.key else []
        total = np.zeros(len(rows), dtype=np.int64)
        after = view.stepped
        hashes = hash_rows(wanted, len(rows), seed)
        for owner, batch, there in after.find(wanted, hashes, self.key, whole_key=False):
            np.add.at(total, owner, batch.weights[there])
        return total > 0

    @property
    def cost(self) -> str:
        return "linear"

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        keys, view = inputs[:2]
        lies_by(keys, tuple(range(len(self.key))), where, "keys")
        assert isinstance(view.operator, Integrate), f"{where}: the view must be a trace"
        lies_by(view, self.key, where)
        for agenda in inputs[self.timers]:
            assert isinstance(agenda.operator, Timers), f"{where}: an agenda is expected"
        types = [view.schema.field(i).type for i in self.key]
        assert keys.schema.types[: len(types)] == types, f"{where}: the keys aren't the view's"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """Any key of the view may fire."""
        return () if position == 1 else None

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """A key may fire any number of times."""
        return None

    def own_bound(self) -> str | None:
        """A count's remainder, and the instants of a schedule, stay of a key that has fired."""
        return "what is still to leave" if self.counting is None and self.schedule is None else None

    def waiting(self, node: int, inputs: Sequence[int]) -> Sequence[int]:
        """A result that is to be called final is waited for, whether it changes or not."""
        return (node, *(inputs[self.timers] if self.flagged else ()))

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """A deadline of the clock is an entry of its timers, which wake up themselves."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return False

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        return f"by {listed(inputs[0], range(len(self.key)))}"


@dataclass
class _Asked:
    """The keys of this step that may fire, each once; records: how many reached it in this step."""

    keys: pa.RecordBatch
    records: np.ndarray


@dataclass
class _Known:
    """What the trace says of the asked keys, up to the last step."""

    weight: np.ndarray
    pending: np.ndarray
    count: np.ndarray = field(repr=False)
    deadline: np.ndarray = field(repr=False)


def _asked(layout: Layout, records: ZSet, agendas: Sequence[Value], pending: Batch, seed: int) -> _Asked:
    width = len(layout.identity)
    parts, numbers = [records.rows], [records.weights]
    due = []
    for agenda in agendas:
        delta = delta_of(agenda)
        due.append(take(delta.rows, np.flatnonzero(delta.weights < 0)))
    for rows in (*due, take(pending.rows, np.flatnonzero(pending.weights > 0))):
        parts.append(rows.select(list(range(width))))
        numbers.append(np.zeros(rows.num_rows, dtype=np.int64))
    keys, weights = concat(records.rows.schema, parts), np.concatenate(numbers)
    if not len(weights):
        return _Asked(keys, weights)
    order, starts = group_rows(keys.columns, hash_rows(keys.columns, len(weights), seed))
    return _Asked(take(keys, order[starts]), np.add.reduceat(weights[order], starts))


def _known(layout: Layout, before: tuple[SortedRun, ...], asked: _Asked, seed: int) -> _Known:
    found = [np.zeros(len(asked.records), dtype=np.int64) for _ in range(3)]
    trace = Integral(layout, before, Batch.empty(layout))
    keys = layout.sort_keys(asked.keys, seed)
    for wanted, batch, there in trace.find(asked.keys.columns, keys, layout.identity, whole_key=True):
        np.add.at(found[0], wanted, batch.weights[there])
        for total, i in zip(found[1:], layout.sums, strict=True):
            np.add.at(total, wanted, fixed_values(batch.column(i))[there])
    return _Known(found[0], found[0] > 0, found[1], found[2])


def _everything(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([True])], schema=schema)


def _came(
    schedule: Schedule,
    asked: _Asked,
    earlier: Waterlines,
    now: Waterlines,
    ending: bool,
) -> tuple[np.ndarray, np.ndarray, pa.Array]:
    """(bool[n]: an instant or a late row came, bool[n]: rows count as early ones, each result's state).

    A key whose end is NULL has no instants: nothing comes before the input ends.
    """
    table = schedule.table
    ends = evaluate(table.end, asked.keys)
    end, known = fixed_values(ends), validity(ends)
    since, to = schedule.threshold.value(earlier), schedule.threshold.value(now)
    instant, never = table.after(ends, since)
    came = np.full(len(end), ending)
    counted = np.zeros(len(end), dtype=np.bool_)
    if to is not None:
        came |= ~never & (instant <= to.value)
        counted = known & (to.value >= end + table.first) & (to.value < end + table.complete)
    if schedule.late and since is not None:
        is_late = known & (since.value >= end + table.complete) & (since.value < end + table.last)
        came |= is_late & (asked.records > 0)
    is_final = np.full(len(end), ending) if to is None else (known & (to.value >= end + table.last)) | ending
    is_early = np.full(len(end), True) if to is None else ~known | (to.value < end + table.complete)
    states = np.where(is_final, FINAL, np.where(is_early, EARLY, COMPLETE))
    return came, counted, pa.array(states.tolist(), pa.string())
