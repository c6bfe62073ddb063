"""The values of a circuit's nodes, level by level, of some inputs and of what traces held before.

views = evaluate(circuit, tables, clock)        what a step from nothing gives, of which nothing is kept
once(circuit, parts, clock)                     the same, to be evaluated part by part
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

import numpy as np
import pyarrow as pa

from dbsp.circuits.allowance import has_allowance, may_go_on
from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.operator import Context, Node, Value, delta_of
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.steps.cancelling import run_cancelling
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.zset import ZSet


class Evaluation:
    """values: of the nodes so far. source: a table's delta. before: the live runs of a node's trace. wanted:
    the nodes whose values are needed; None: all. seconds: that each took; a loop's are its last node's.
    """

    def __init__(
        self,
        circuit: Circuit,
        context: Context,
        source: Callable[[Source], ZSet],
        before: Callable[[int], tuple[SortedRun, ...]],
        wanted: Collection[int] | None = None,
    ) -> None:
        self.circuit, self.context = circuit, context
        self._wanted = wanted
        self._source, self._before = source, before
        self.values: dict[int, Value] = {}
        self.seconds: dict[int, float] = {}
        self._is_counted, self._held = has_allowance(), 0
        for name, value in context.advances.items():
            context.report(name, value)
        if circuit.is_timed and context.clock is not None:
            context.report(CLOCK.name, pa.scalar(context.clock, CLOCK.type))

    def up_to(self, wanted: Collection[int] | None = None) -> None:
        """Of all levels: of these nodes, which are all that theirs follow from; None: of all that are needed.

        Raises dbsp.circuits.errors.Error.
        """
        for level in range(self.circuit.levels):
            self.run(level, wanted)

    def run(self, level: int, wanted: Collection[int] | None = None) -> None:
        """Of the level's nodes that have no value yet. Raises dbsp.circuits.errors.Error."""
        began = time.perf_counter()
        wanted = self._wanted if wanted is None else wanted
        for i in self.circuit.of_level[level]:
            if i in self.values or (wanted is not None and i not in wanted):
                continue
            node = self.circuit.nodes[i]
            found = self._located(i, node)
            self.values |= found
            ended = time.perf_counter()
            self.seconds[i], began = ended - began, ended
            if self._is_counted:
                if not isinstance(node.operator, Source):  # which is there anyway
                    self._held += sum(map(_bytes_of, found.values()))
                may_go_on(self._held)

    def _located(self, i: int, node: Node) -> dict[int, Value]:
        """The values that are there with this node; an expression that fails says in which views."""
        loop = self.circuit.loop_of.get(i)
        try:
            if loop is None:
                return {i: self._evaluate(i, node)}
            if i != loop.body[-1]:
                return {}  # not before all that the loop reads is there
            from dbsp.circuits.steps.recursion import run_loop  # noqa: PLC0415  few circuits have one

            return run_loop(self.circuit, loop, self.context, self.values, self._before)
        except EvaluationError as error:
            error.node = i if loop is None else loop.body[0]
            views = self.circuit.views_of(error.node)
            if not views:
                raise
            raise error.of_views(views) from None

    def _evaluate(self, i: int, node: Node) -> Value:
        operator = node.operator
        if isinstance(operator, Source):
            return self._source(operator)
        inputs = [self.values[j] for j in node.inputs]
        layout = self.circuit.layouts.get(i)
        if layout is None:
            return run_cancelling(partial(operator.step, self.context), self.circuit.seed, inputs)
        run = partial(operator.integrate, self.context, layout, self._before(i))
        return run_cancelling(run, self.circuit.seed, inputs)


def _bytes_of(value: Value) -> int:
    return value.rows.nbytes + value.weights.nbytes if isinstance(value, ZSet) else 0


def table_delta(source: Source, parts: Sequence[tuple[int, ZSet]]) -> ZSet:
    """Parts of a table's delta as its source gives it, each with the ordinal of its first row."""
    given = []
    for ordinal, zset in parts:
        if not source.is_numbered and zset.schema.equals(source.columns):
            given.append(zset)
            continue
        columns = zset.rows.columns
        if source.is_numbered:
            columns.append(pa.array(ordinal + np.arange(len(zset), dtype=np.int64)))
        given.append(ZSet(pa.RecordBatch.from_arrays(columns, schema=source.columns), zset.weights))
    return ZSet.sum(source.columns, given)


def evaluate(
    circuit: Circuit, tables: Mapping[str, Sequence[ZSet]], clock: datetime | None = None
) -> dict[str, ZSet]:
    """What each view holds of these tables, not consolidated: one step from nothing, which keeps nothing.

    tables: the parts whose sum is in each, with its columns by position. Raises dbsp.circuits.errors.Error.
    Cost: that of all rows.
    """
    evaluation = once(circuit, lambda table: tables[table], clock)
    evaluation.up_to()
    return results(evaluation)


def once(
    circuit: Circuit, parts: Callable[[str], Sequence[ZSet]], clock: datetime | None = None
) -> Evaluation:
    """One step from nothing. parts: of a table, asked when its Source has its turn."""

    def source(operator: Source) -> ZSet:
        ordinals, given = 0, []
        for part in parts(operator.table):
            given.append((ordinals, part))
            ordinals += len(part)
        return table_delta(operator, given)

    context = Context(circuit.seed, 1, clock, owns_empty_key=True)
    return Evaluation(circuit, context, source, lambda _: (), needed(circuit, _results(circuit).values()))


def results(evaluation: Evaluation) -> dict[str, ZSet]:
    """What each view has, not consolidated, once all is evaluated."""
    nodes = _results(evaluation.circuit)
    return {view: delta_of(evaluation.values[node]) for view, node in nodes.items()}


def _results(circuit: Circuit) -> dict[str, int]:
    return {output.view: before_its_trace(circuit, output.node) for output in circuit.outputs}


def before_its_trace(circuit: Circuit, i: int) -> int:
    """The node whose deltas a trace sums up, which need no order to be a view's rows."""
    while isinstance(circuit.nodes[i].operator, Integrate | Exchange):
        (i,) = circuit.nodes[i].inputs
    return i


def needed(circuit: Circuit, nodes: Iterable[int]) -> set[int]:
    """The nodes and all that they follow from."""
    found, left = set[int](), [*nodes]
    while left:
        i = left.pop()
        if i not in found:
            found.add(i)
            loop = circuit.loop_of.get(i)
            left += circuit.nodes[i].inputs if loop is None else {*loop.body, *circuit.nodes[i].inputs}
    return found
