"""A step: the same however it is divided, harmless when it is run twice, and its errors name the view."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.joins.join import LEFT, RIGHT, Join
from dbsp.circuits.operators.linear import SEQUENCE, Map, Source
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.segments.writing import SegmentWriter
from dbsp.circuits.steps.contents import changes
from dbsp.circuits.steps.evaluation import Evaluation
from dbsp.circuits.steps.state import State, TaskResult
from dbsp.circuits.steps.step import run_step, run_task
from dbsp.circuits.steps.task import Input, Step, Task
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet
from dbsp.circuits.verify import verify
from tests.circuits.engine import output, source, trace
from tests.generators.columns.zsets import Naive, naive_of, zset_of, zsets

INT = pa.int64()
SCHEMA = pa.schema([("k", INT), ("x", INT)])
MADE = pa.schema([("q", INT)])
HALF = Call("integral_divide", (Literal(12, INT), Column(1, INT)), INT, True, (("evalMode", "ANSI"),))


def paired() -> Circuit:
    """Pairs by k, without duplicates: three levels."""
    builder = CircuitBuilder()
    table = source(builder, "t", SCHEMA)
    sides = [builder.add(Integrate((i,)), builder.placed(table, (i,))) for i in range(2)]
    pairs = builder.add(Join((0,), (1,), ((LEFT, 1), (RIGHT, 0))), *sides)
    output(builder, "v", builder.add(Distinct(), trace(builder, pairs)))
    return builder.build()


def stepped(
    circuit: Circuit, deltas: list[ZSet], root: Path, partitions: int
) -> tuple[Naive, list[TaskResult]]:
    """(the sum of the view's changes, the last step's results)"""
    state, segments, found = State.empty(circuit), Segments(root), Naive()
    results: list[TaskResult] = []
    for number, delta in enumerate(deltas, 1):
        step = Step(number=number, state=state, segment=f"{partitions}-{number}", partitions=partitions)
        parts = [Input(i, delta.to_batch().slice(i, 1)) for i in range(len(delta))]
        results = run_step(circuit, step, {"t": parts}, segments)
        state = state.apply(results)
        chunks = [r.changes["v"] for r in results if "v" in r.changes]
        found.update(naive_of(changes(circuit, "v", chunks, segments)))
    return Naive({row: n for row, n in found.items() if n}), results


def by_the_book(deltas: list[ZSet]) -> Naive:
    held = naive_of(ZSet.sum(SCHEMA, deltas))
    weights: dict[Any, int] = {}
    for (_, k, x), n in held.items():
        for (_, other, y), m in held.items():
            if k == y:  # NULL is a key like any other here
                weights["list", x, other] = weights.get(("list", x, other), 0) + n * m
    return Naive({row: 1 for row, n in weights.items() if n > 0})


@given(st.lists(zsets(SCHEMA, 5), min_size=1, max_size=3), st.sampled_from([1, 2, 5]))
def test_any_number_of_partitions(
    tmp_path_factory: pytest.TempPathFactory, deltas: list[ZSet], partitions: int
) -> None:
    circuit = paired()
    verify(circuit)
    found, results = stepped(circuit, deltas, tmp_path_factory.mktemp("s"), partitions)
    assert found == by_the_book(deltas)
    assert len(results) == (1 if partitions == 1 else partitions * circuit.levels)
    assert sum(result.rows_in.get("t", 0) for result in results) == len(deltas[-1])
    assert {level for result in results for level in result.seconds} == set(range(circuit.levels))


@pytest.mark.parametrize("partitions", [1, 3])
def test_each_row_that_a_node_puts_out_is_counted_once(tmp_path: Path, partitions: int) -> None:
    circuit = paired()
    delta = zset_of(SCHEMA, [((k, x), 1) for k in range(5) for x in range(2)])
    _, results = stepped(circuit, [delta], tmp_path, partitions)
    rows = {i: sum(result.put_out.get(i, 0) for result in results) for i in range(len(circuit.nodes))}
    for i, node in enumerate(circuit.nodes):
        if isinstance(node.operator, Source | Exchange):
            assert rows[i] in (len(delta), rows[node.inputs[0]] if node.inputs else -1), i
    assert rows[circuit.outputs[0].node] == sum(
        result.changes["v"].rows for result in results if result.changes
    )
    evaluated = {i for result in results for i, seconds in result.spent.items() if seconds > 0}
    assert evaluated >= {i for i, node in enumerate(circuit.nodes) if not isinstance(node.operator, Exchange)}


def test_a_task_that_runs_twice_writes_the_same(tmp_path: Path) -> None:
    circuit = paired()
    delta = zset_of(SCHEMA, [((1, 1), 1), ((1, 2), 2), ((2, 1), 1)])
    results = []
    for attempt in ("a", "b"):
        step = Step(number=1, state=State.empty(circuit), segment=attempt)
        inputs = {"t": [Input(0, delta.to_batch())]}
        results.append(run_step(circuit, step, inputs, Segments(tmp_path))[0])
    first, second = results
    assert first.written.keys() == second.written.keys()
    for node, chunk in first.written.items():
        other = second.written[node]
        assert chunk is not None and other is not None
        assert (chunk.rows, chunk.low, chunk.high, chunk.checksum) == (
            other.rows, other.low, other.high, other.checksum,
        )  # fmt: skip
        assert chunk.segment != other.segment


def test_what_is_sent_goes_to_the_next_level_s_tasks(tmp_path: Path) -> None:
    circuit = paired()
    step = Step(number=1, state=State.empty(circuit), segment="s", partitions=2)
    delta = zset_of(SCHEMA, [((i, i), 1) for i in range(20)])
    task = Task(step=step, levels=range(1), segment="s-0", inputs={"t": [Input(0, delta.to_batch())]})
    result = run_task(circuit, task, Segments(tmp_path))
    assert {to for _, to, _ in result.sent} == {0, 1}
    assert not result.written and not result.changes, "level 0 has the table alone"


def halved() -> Circuit:
    builder = CircuitBuilder()
    table = source(builder, "t", SCHEMA)
    for view in ("v", "w"):
        builder.output(view, builder.add(Map((HALF,), MADE), table), None)
    return builder.build()


def test_an_expression_that_fails_says_in_which_views(tmp_path: Path) -> None:
    zero = zset_of(SCHEMA, [((1, 0), 1)])
    step = Step(number=1, state=State.empty(halved()), segment="s")
    with pytest.raises(EvaluationError, match=r"^views 'v', 'w': .*DIVIDE_BY_ZERO"):
        run_step(halved(), step, {"t": [Input(0, zero.to_batch())]}, Segments(tmp_path))


def test_rows_are_numbered_by_their_place_in_the_step(tmp_path: Path) -> None:
    """Whatever part they are in, and whether they are handed over or lie in a segment."""
    builder = CircuitBuilder()
    builder.sources["t"] = builder.add(Source("t", SCHEMA.append(pa.field(SEQUENCE, INT))))
    builder.output("v", builder.sources["t"], None)
    circuit = builder.build()
    delta = zset_of(SCHEMA, [((10 + i, None), 1) for i in range(5)]).to_batch()
    writer = SegmentWriter(tmp_path, "input")
    stored = writer.write(delta.slice(3))
    writer.close()
    step = Step(number=1, state=State.empty(circuit), segment="s")
    parts = [Input(103, stored), Input(100, delta.slice(0, 3))]
    (result,) = run_step(circuit, step, {"t": parts}, Segments(tmp_path))
    rows = changes(circuit, "v", [result.changes["v"]], Segments(tmp_path)).rows
    assert dict(zip(*(rows.column(i).to_pylist() for i in (0, 2)), strict=True)) == {
        10 + i: 100 + i for i in range(5)
    }


def test_a_table_without_input_has_an_empty_delta(tmp_path: Path) -> None:
    step = Step(number=1, state=State.empty(paired()), segment="s")
    (result,) = run_step(paired(), step, {}, Segments(tmp_path))
    assert result.rows_in == {"t": 0} and not result.written and not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 2])
def test_what_a_step_computes_is_gone_when_it_is_over(tmp_path: Path, partitions: int) -> None:
    """And not when Python next looks for circles: until then the memory of a large step would be held."""
    delta = zset_of(SCHEMA, [((1, 2), 1), ((2, 1), 1), ((1, 3), 1)])

    def computed() -> set[int]:
        return {id(each) for each in gc.get_objects() if type(each) in (Evaluation, Integral, ZSet)}

    gc.collect()
    gc.disable()
    try:
        before = computed()
        found, results = stepped(paired(), [delta, delta], tmp_path, partitions)
        del results
        left = computed() - before
    finally:
        gc.enable()
    assert found
    assert not left
