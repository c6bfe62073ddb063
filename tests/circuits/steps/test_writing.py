"""What a task writes: small runs with the delta, a view's changes once, and no row that is out of reach."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.inputs.late import OnTime
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.proofs.retention import with_retentions
from dbsp.circuits.progress.waterline import Lateness
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps import writing
from dbsp.circuits.steps.contents import changes
from dbsp.circuits.steps.state import State, TaskResult
from dbsp.circuits.steps.step import run_step
from dbsp.circuits.steps.task import Input, Step
from dbsp.circuits.steps.writing import as_log
from dbsp.circuits.traces.narrow.batch import from_stored
from dbsp.circuits.traces.spine import END
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import output, source
from tests.generators.columns.zsets import naive_of, zset_of

SCHEMA = pa.schema([("t", pa.int64())])
LATENESS = Lateness("t.t", 0, pa.int64(), 1)


def delta(*times: int, weight: int = 1) -> ZSet:
    return zset_of(SCHEMA, [((time,), weight) for time in times])


class Driver:
    """Runs steps one after the other and keeps each one's result."""

    def __init__(self, circuit: Circuit, root: Path, small: int) -> None:
        self.circuit, self.segments = circuit, Segments(root)
        self.state, self.results = State.empty(circuit, small), list[TaskResult]()

    def step(self, given: ZSet) -> TaskResult:
        number = len(self.results) + 1
        step = Step(number=number, state=self.state, segment=f"{number}")
        (result,) = run_step(self.circuit, step, {"t": [Input(0, given.to_batch())]}, self.segments)
        self.state = self.state.apply([result])
        self.results.append(result)
        return result

    def rows_of(self, view: str) -> list[ZSet]:
        """Each step's change."""
        written = [[r.changes[view]] if view in r.changes else [] for r in self.results]
        return [changes(self.circuit, view, chunks, self.segments) for chunks in written]


def kept() -> tuple[Circuit, int]:
    """(a view in a trace, the trace)"""
    builder = CircuitBuilder()
    output(builder, "v", source(builder, "t", SCHEMA))
    return builder.build(), builder.outputs[0].kept


def test_small_runs_are_merged_into_what_is_written(tmp_path: Path) -> None:
    circuit, trace = kept()
    driver = Driver(circuit, tmp_path, small=4)
    sizes = []
    for i in range(6):
        result = driver.step(delta(2 * i, 2 * i + 1))
        assert (result.inserted[trace], result.absorbed) == (2, {trace})
        sizes.append([run.rows for run in driver.state.spines[trace].runs])
    assert sizes == [[2], [4], [4, 2], [4, 4], [4, 4, 2], [4, 4, 4]]
    assert [naive_of(change) for change in driver.rows_of("v")] == [
        naive_of(delta(2 * i, 2 * i + 1)) for i in range(6)
    ], "what was merged with it is no change"


def test_what_cancels_a_small_run_leaves_no_chunk(tmp_path: Path) -> None:
    circuit, trace = kept()
    driver = Driver(circuit, tmp_path, small=4)
    driver.step(delta(1, 2))
    result = driver.step(delta(1, 2, weight=-1))
    assert result.written == {trace: None} and driver.state.spines[trace].runs == ()
    assert len(driver.rows_of("v")[1]) == 2


def test_a_change_is_written_once(tmp_path: Path) -> None:
    """By reference where the trace got the same rows, else beside it."""
    circuit, trace = kept()
    driver = Driver(circuit, tmp_path, small=4)
    first, second = driver.step(delta(1)), driver.step(delta(2))
    assert first.changes["v"] == first.written[trace]
    assert second.changes["v"] != second.written[trace]
    assert second.changes["v"].rows == 1


@pytest.mark.parametrize(("times", "files"), [(1, 1), (200, 2)])
def test_a_large_chunk_has_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, files: int
) -> None:
    """If it would lie beside another: its file can go when it does."""
    monkeypatch.setattr(writing, "_LARGE", 1 << 10)
    builder = CircuitBuilder()
    table = source(builder, "t", SCHEMA)
    traces = [builder.add(Integrate((0,), order=order), builder.placed(table, (0,))) for order in (None, 0)]
    for trace in traces:
        builder.add(Distinct(), trace)
    driver = Driver(builder.build(), tmp_path, small=0)
    result = driver.step(delta(*range(times)))
    written = {chunk.segment for chunk in result.written.values() if chunk is not None}
    assert written == result.segments == {path.name for path in tmp_path.iterdir()}
    assert len(result.written) == 2 and len(written) == files


def test_nothing_leaves_no_file(tmp_path: Path) -> None:
    driver = Driver(kept()[0], tmp_path, small=4)
    result = driver.step(delta())
    assert not result.written and not result.changes and not list(tmp_path.iterdir())


def test_a_log_is_in_the_order_of_arrival(tmp_path: Path) -> None:
    builder = CircuitBuilder()
    builder.output("v", source(builder, "t", SCHEMA), None)
    driver = Driver(builder.build(), tmp_path, small=0)
    driver.step(delta(3, 1, 2))
    (chunk,) = driver.state.spines[builder.outputs[0].kept].live
    layout = driver.circuit.stored(builder.outputs[0].kept)
    stored = from_stored(driver.segments.open(chunk, layout.stored_schema), layout)
    assert stored.rows.column(0).to_pylist() == [3, 1, 2]
    log = as_log(delta(3, 1, 3))
    assert (log.keys.tolist(), log.rows.column(0).to_pylist()) == ([0, 0, 0], [3, 1, 3])


def collected() -> tuple[Circuit, int]:
    """(a circuit whose one trace loses the times below the waterline, the trace)"""
    builder = CircuitBuilder(lateness=[LATENESS])
    builder.sources["t"] = builder.add(Source("t", SCHEMA))
    on_time = builder.add(OnTime("t", (LATENESS,)), builder.sources["t"])
    trace = builder.add(Integrate((0,)), builder.placed(on_time, (0,)))
    builder.add(Distinct(), trace)
    return with_retentions(builder.build()), trace


def test_rows_out_of_reach_are_left_out_of_merges(tmp_path: Path) -> None:
    circuit, trace = collected()
    driver = Driver(circuit, tmp_path, small=1 << 60)
    assert driver.step(delta(1, 9, 10)).collected == {}
    # the waterline is 9, as of the step before
    assert driver.step(delta(11)).collected == {trace: 1}
    assert driver.step(delta(12)).collected == {trace: 1}
    assert driver.state.rows() == {trace: 3}


def test_a_run_that_is_out_of_reach_goes_unread(tmp_path: Path) -> None:
    circuit, trace = collected()
    driver = Driver(circuit, tmp_path, small=0)
    driver.step(delta(1, 2))
    driver.step(delta(9))
    (old, new) = driver.state.spines[trace].runs
    result = driver.step(delta())
    assert result.unreachable == {trace: {old.id}} and result.collected == {trace: 2}
    assert driver.state.spines[trace].runs == (new,)


@pytest.mark.parametrize("small", [0, 1 << 60])
def test_nothing_is_collected_before_the_waterline_is_known(tmp_path: Path, small: int) -> None:
    circuit, trace = collected()
    driver = Driver(circuit, tmp_path, small)
    assert driver.step(delta(-5, 100)).collected == {}
    assert driver.state.rows() == {trace: 2}


def test_a_step_opens_nothing_of_the_small_one_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    circuit, trace = kept()
    driver = Driver(circuit, tmp_path, small=100)
    driver.step(delta(1, 2))
    monkeypatch.setattr(driver.segments, "open", None)
    driver.step(delta(2, 3))
    monkeypatch.undo()
    held = driver.segments.kept.get(driver.state.spines[trace].live, (0, END), lambda: ())
    driver.segments = Segments(tmp_path)
    driver.step(delta(2, weight=-1))
    assert driver.rows_of("v")[-1] == delta(2, weight=-1)
    assert len(held) == 1, "it is kept as a run"
