"""A recursion within one step: the nodes of a loop, evaluated until nothing changes any more.

Rows carry their iteration (`circuits/operators/recursion.py` has the equations). The loop goes through
iterations in ascending order and stops only at those where something waits: rows that were put out an
iteration before, and rows whose distinct may change. So a step's cost follows what changes in each iteration,
not how many iterations there are nor how large the relations.

Within a step the traces of the loop grow from one iteration to the next: a trace is its batches up to the
last step and those of this step, which are merged geometrically. Their sum is what the step adds to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import partial

import numpy as np
import pyarrow as pa

from dbsp.circuits.allowance import may_go_on
from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import DataError
from dbsp.circuits.operators.operator import Context, Value, delta_of
from dbsp.circuits.operators.recursion import Earliest, FixedPoint, Loop, Recurrence, iterations, later_by_one
from dbsp.circuits.steps.cancelling import run_cancelling
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral, as_runs
from dbsp.circuits.traces.zset import ZSet


def run_loop(
    circuit: Circuit,
    loop: Loop,
    context: Context,
    values: Mapping[int, Value],
    before: Callable[[int], tuple[SortedRun, ...]],
) -> dict[int, Value]:
    """The values of the loop's nodes after the step; of a trace, with all that the step adds to it.

    values: of the nodes before. before: the runs of a node's trace. Raises DataError past the limit of
    iterations.
    """
    return _Nested(circuit, loop, context, values, before).run()


class _Waiting:
    """Rows that wait for their iteration."""

    def __init__(self) -> None:
        self._rows: dict[int, list[ZSet]] = {}

    def add(self, rows: ZSet) -> None:
        if not len(rows):
            return
        reached = iterations(rows.rows)
        if (reached == reached[0]).all():
            self._rows.setdefault(int(reached[0]), []).append(rows)
            return
        order = np.argsort(reached, kind="stable")
        ordered = reached[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        for start, stop in zip(starts, [*starts[1:], len(order)], strict=True):
            self._rows.setdefault(int(ordered[start]), []).append(rows.take(order[start:stop]))

    def take(self, iteration: int, schema: pa.Schema, seed: int) -> ZSet:
        """What has waited for this iteration, consolidated."""
        return ZSet.sum(schema, self._rows.pop(iteration)).consolidate(seed)

    @property
    def iterations(self) -> Set[int]:
        return self._rows.keys()


class _Trace:
    """A trace of the loop while the step grows it. stored: up to the last step."""

    def __init__(self, layout: Layout, stored: tuple[SortedRun, ...]) -> None:
        self.layout, self.stored = layout, stored
        self.nothing = Batch.empty(layout)
        self.added: list[Batch] = []

    def add(self, batch: Batch) -> None:
        """Each batch is less than half of the one before it, so there are O(log n)."""
        if not len(batch):
            return
        self.added.append(batch)
        while len(self.added) > 1 and 2 * len(self.added[-1]) > len(self.added[-2]):
            self.added[-2:] = [Batch.merge(self.layout, self.added[-2:])]

    @property
    def whole(self) -> Integral:
        """The trace with all that the step adds."""
        return Integral(self.layout, self.stored, Batch.merge(self.layout, self.added))


class _Nested:
    def __init__(
        self,
        circuit: Circuit,
        loop: Loop,
        context: Context,
        values: Mapping[int, Value],
        before: Callable[[int], tuple[SortedRun, ...]],
    ) -> None:
        self.circuit, self.loop, self.context = circuit, loop, context
        self.body = [(i, circuit.nodes[i]) for i in loop.body]
        inside = set(loop.body)
        self.outside = {j: values[j] for _, node in self.body for j in node.inputs if j not in inside}
        layouts = circuit.layouts
        self.traces = {i: _Trace(layouts[i], before(i)) for i in loop.body if i in layouts}
        self.waiting = {i: _Waiting() for i, n in self.body if isinstance(n.operator, Recurrence | Earliest)}
        # most nodes see no change in most iterations
        self.unchanged = {i: ZSet.empty(node.schema) for i, node in self.body}
        self.differences: dict[int, list[ZSet]] = {
            i: [] for i, node in self.body if isinstance(node.operator, FixedPoint)
        }

    def run(self) -> dict[int, Value]:
        now = dict(self.outside)
        if any(len(delta_of(value)) for value in now.values()):
            settled = {j: _settled(value) for j, value in self.outside.items()}
            todo = {0}
            while todo:
                may_go_on()
                iteration = min(todo)
                self._iterate(iteration, now)
                todo = {i for waiting in self.waiting.values() for i in waiting.iterations}
                assert all(i > iteration for i in todo), f"{iteration} is over, yet awaited: {todo}"
                now = dict(settled)
        return {i: self._total(i) for i in self.loop.body}

    def _iterate(self, iteration: int, now: dict[int, Value]) -> None:
        """Evaluate the loop once. now: values of this iteration, of nodes outside at first, then of all."""
        for i, _ in self.body:
            now[i] = self._evaluate(i, iteration, now)
        for i, trace in self.traces.items():
            trace.add(now[i].delta)  # type: ignore[union-attr]
        for i, parts in self.differences.items():
            parts.append(delta_of(now[self.circuit.nodes[i].inputs[0]]))
        for source, recurrence in self.loop.feedback:
            self.waiting[recurrence].add(later_by_one(delta_of(now[source])))

    def _evaluate(self, i: int, iteration: int, now: Mapping[int, Value]) -> Value:
        node = self.circuit.nodes[i]
        if isinstance(node.operator, Recurrence):
            return self._recur(i, node.operator, iteration)
        if isinstance(node.operator, Earliest):
            return self._settle(i, node.operator, iteration, now)
        inputs = [now[j] for j in node.inputs]
        changed = any(len(delta_of(value)) for value in inputs)
        if i in self.traces:
            trace = self.traces[i]
            before = (*trace.stored, *as_runs(*trace.added))
            if not changed:
                return Integral(trace.layout, before, trace.nothing)
            run = partial(node.operator.integrate, self.context, trace.layout, before)
            return run_cancelling(run, self.context.seed, inputs)
        if not changed or isinstance(node.operator, FixedPoint):
            return self.unchanged[i]
        return run_cancelling(partial(node.operator.step, self.context), self.context.seed, inputs)

    def _recur(self, i: int, recurrence: Recurrence, iteration: int) -> ZSet:
        if iteration not in self.waiting[i].iterations:
            return self.unchanged[i]
        rows = self.waiting[i].take(iteration, recurrence.columns, self.context.seed)
        if len(rows) and iteration > recurrence.limit:
            raise DataError(f"{recurrence.past_limit}; nothing of this step was kept")
        return rows

    def _settle(self, i: int, earliest: Earliest, iteration: int, now: Mapping[int, Value]) -> ZSet:
        source = self.circuit.nodes[i].inputs[0]
        trace, value = self.traces[source], now[source]
        assert isinstance(value, Integral)
        if len(value.delta):
            self.waiting[i].add(earliest.affected(Integral(trace.layout, trace.stored, value.delta)))
        if iteration not in self.waiting[i].iterations:
            return self.unchanged[i]
        affected = self.waiting[i].take(iteration, trace.layout.schema, self.context.seed)
        stored = Integral(trace.layout, trace.stored, trace.nothing)
        changed = Integral(trace.layout, as_runs(*trace.added, value.delta), trace.nothing)
        return earliest.settle(self.context, affected, stored, changed)

    def _total(self, i: int) -> Value:
        if i in self.traces:
            return self.traces[i].whole
        node = self.circuit.nodes[i]
        if isinstance(node.operator, FixedPoint):
            source = self.circuit.nodes[node.inputs[0]]
            return node.operator.step(self.context, ZSet.sum(source.schema, self.differences[i]))
        return self.unchanged[i]  # only nodes of the loop read it


def _settled(value: Value) -> Value:
    """A relation from outside after the first iteration: it changes no more."""
    if isinstance(value, Integral):
        return Integral(value.layout, value.after, Batch.empty(value.layout))
    return ZSet.empty(value.schema)
