"""What a runner promises: the same results of the same work, and nothing of it is true before the commit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.state import State
from dbsp.circuits.steps.task import Input, Step
from dbsp.circuits.traces.zset import ZSet
from dbsp.running.inline import InlineRunner
from dbsp.running.runner import Runner, Work
from tests.dbsp.build import EVENT, VOTES, votes_program


def batch(fields: tuple[object, ...], *columns: list[object]) -> pa.RecordBatch:
    schema = pa.schema([(field.name, field.type) for field in fields])  # type: ignore[attr-defined]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    rows = pa.RecordBatch.from_arrays(arrays, schema=schema)
    return ZSet(rows, np.ones(len(rows), dtype=np.int64)).to_batch()


def work(root: Path, partitions: int) -> Work:
    circuit = votes_program().circuit
    step = Step(number=1, state=State.empty(circuit), segment="1", partitions=partitions)
    inputs = {
        "votes": [Input(0, batch(VOTES, [1, 2, 2], [1, 1, 3]))],
        "event": [Input(0, batch(EVENT, [7], [None]))],
    }
    root.mkdir()
    return Work(circuit=circuit, step=step, inputs=inputs, segments=Segments(root))


def test_the_same_work_gives_the_same_state_however_often_it_is_done(tmp_path: Path) -> None:
    runner: Runner = InlineRunner()
    assert runner.partitions >= 1
    found = []
    for i, partitions in enumerate((1, 1, 3)):
        asked = work(tmp_path / str(i), partitions)
        results = runner.run(asked)
        state = asked.step.state.apply(results)
        found.append(state.rows())
        assert not any(asked.step.state.rows().values())
    runner.close()
    assert found[0] == found[1] == found[2]
    assert sum(found[0].values()) > 0
