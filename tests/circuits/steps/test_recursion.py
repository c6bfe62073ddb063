"""A loop within a step: what it leaves in its traces follows from the contents alone, however they came."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import DataError
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.operator import Context, Value, delta_of
from dbsp.circuits.operators.recursion import ITERATION_FIELD, FixedPoint
from dbsp.circuits.steps.recursion import _Trace, _Waiting, run_loop
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral, as_runs
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.operators.test_recursion import EDGES, chain, closure, doubling, edges_of, graphs, paths
from tests.effort import examples
from tests.generators.columns.zsets import Naive, naive_of, plus, zset_of
from tests.laws.operators_laws import circuit_of, hash_seeds

INSIDE = EDGES.append(ITERATION_FIELD)


class Looping:
    """Evaluates a circuit of one loop step by step, and keeps the runs of all traces."""

    def __init__(self, circuit: Circuit, seed: int = 0) -> None:
        self.circuit, self.seed = circuit, seed
        self.runs: dict[int, tuple[SortedRun, ...]] = dict.fromkeys(circuit.layouts, ())
        (self.loop,) = circuit.loops

    def step(self, delta: ZSet) -> ZSet:
        """The fixed point's delta."""
        context = Context(self.seed, 1, None, True)
        values: dict[int, Value] = {}
        for i, node in enumerate(self.circuit.nodes[: self.loop.body[0]]):
            inputs = [values[j] for j in node.inputs]
            layout = self.circuit.layouts.get(i)
            if isinstance(node.operator, Source):
                values[i] = delta
            elif layout is None:
                values[i] = node.operator.step(context, *inputs)
            else:
                values[i] = node.operator.integrate(context, layout, self.runs[i], *inputs)
        for i, node in enumerate(self.circuit.nodes):
            # what the loop reads from outside may stand between its nodes
            if i not in self.loop.body and i not in values and set(node.inputs) <= values.keys():
                inputs = [values[j] for j in node.inputs]
                values[i] = node.operator.integrate(context, self.circuit.layouts[i], self.runs[i], *inputs)
        found = run_loop(self.circuit, self.loop, context, values, lambda i: self.runs[i])
        assert found.keys() == {*self.loop.body}
        for i, value in (values | found).items():
            if isinstance(value, Integral):
                self.runs[i] += as_runs(value.delta)
        (end,) = [i for i in self.loop.body if isinstance(self.circuit.nodes[i].operator, FixedPoint)]
        return delta_of(found[end])

    def held(self) -> dict[int, Naive]:
        """What each trace holds, with iterations."""
        batches = {i: [batch for run in runs for batch in run.batches] for i, runs in self.runs.items()}
        return {i: plus(*(naive_of(batch.zset) for batch in found)) for i, found in batches.items()}


def only_the_loop(build: Any, seed: int) -> Looping:
    return Looping(circuit_of({"e": EDGES}, build, seed), seed)


@pytest.mark.parametrize("build", [closure, doubling])
@examples(15)
@given(stream=graphs(), seed=hash_seeds)
def test_state_follows_from_the_contents(build: Any, stream: list[dict[str, ZSet]], seed: int) -> None:
    stepped, held, view = only_the_loop(build, seed), Naive(), Naive()
    for deltas in stream:
        view = plus(view, naive_of(stepped.step(deltas["e"])))
        held = plus(held, naive_of(deltas["e"]))
        assert view == paths(held)
    at_once = only_the_loop(build, seed)
    assert naive_of(at_once.step(ZSet.sum(EDGES, [deltas["e"] for deltas in stream]))) == view
    of_loop = [i for i in stepped.loop.body if i in stepped.runs]
    assert {i: stepped.held()[i] for i in of_loop} == {i: at_once.held()[i] for i in of_loop}


def test_without_a_change_nothing_is_put_out() -> None:
    stepped = only_the_loop(closure, 0)
    stepped.step(chain(4))
    before = stepped.held()
    assert not len(stepped.step(edges_of([])))
    assert stepped.held() == before


def test_an_edge_and_its_retraction_leave_nothing() -> None:
    stepped = only_the_loop(closure, 0)
    stepped.step(chain(4))
    before = stepped.held()
    assert not naive_of(stepped.step(edges_of([((1, 0), 1), ((1, 0), -1)])))
    assert stepped.held() == before


def test_iterations_beyond_the_limit() -> None:
    stepped = only_the_loop(lambda b, e: closure(b, e, 3), 0)
    assert len(stepped.step(chain(3))) == 6
    with pytest.raises(DataError, match="r0 goes on; nothing of this step was kept"):
        stepped.step(edges_of([((3, 4), 1)]))


def rows(*listed: tuple[int, int, int], weight: int = 1) -> ZSet:
    return zset_of(INSIDE, [(row, weight) for row in listed])


def test_rows_wait_for_their_iteration() -> None:
    waiting = _Waiting()
    waiting.add(rows((1, 1, 2), (2, 2, 1), (3, 3, 2)))
    waiting.add(rows((1, 1, 2), weight=-1))
    waiting.add(rows())
    assert set(waiting.iterations) == {1, 2}
    assert naive_of(waiting.take(2, INSIDE, 0)) == naive_of(rows((3, 3, 2)))
    assert set(waiting.iterations) == {1}


def test_a_growing_trace_has_few_batches() -> None:
    layout = Layout(INSIDE, (0,))
    trace = _Trace(layout, ())
    for i in range(100):
        trace.add(Batch.build(layout, rows((i % 60, 0, 0)), 0))
        sizes = [len(batch) for batch in trace.added]
        assert all(2 * after <= before for before, after in pairwise(sizes))
    trace.add(Batch.empty(layout))
    whole = trace.whole.delta
    assert len(whole) == 60 and int(np.sum(whole.weights)) == 100
    assert pa.types.is_int32(whole.rows.schema.field(2).type)
