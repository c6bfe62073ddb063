"""An operator fails exactly where a row of the contents does, however a delta lists what cancels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.linear import SEQUENCE
from dbsp.circuits.operators.operator import Value
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.cancelling import cancelled, run_cancelling
from dbsp.circuits.steps.task import Input
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import source
from tests.generators.columns.zsets import naive_of

SCHEMA = pa.schema([("x", pa.int64())])


def zset(*listed: tuple[int | None, int], schema: pa.Schema = SCHEMA) -> ZSet:
    columns = [pa.array([x for x, _ in listed], pa.int64())]
    columns += [pa.array(range(len(listed)), pa.int64())] * (len(schema) - 1)
    weights = np.array([weight for _, weight in listed], np.int64)
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), weights)


def refusing_zero(*values: Value) -> ZSet:
    (delta,) = values
    assert isinstance(delta, ZSet)
    if 0 in delta.rows.column(0).to_pylist():
        raise EvaluationError("REFUSED", "zero")
    return delta


@pytest.mark.parametrize(
    "delta", [zset((0, 1), (1, 1), (0, -1)), zset((0, 2), (0, -1), (0, -1)), zset((0, 1), (0, -1))]
)
def test_rows_that_cancel_are_not_evaluated(delta: ZSet) -> None:
    assert naive_of(run_cancelling(refusing_zero, 0, [delta])) == naive_of(delta.consolidate())  # type: ignore[arg-type]


@pytest.mark.parametrize("delta", [zset((0, 1)), zset((0, 1), (0, 1)), zset((0, -1), (1, 1), (1, -1))])
def test_a_row_that_is_left_fails(delta: ZSet) -> None:
    with pytest.raises(EvaluationError, match="zero"):
        run_cancelling(refusing_zero, 0, [delta])


def test_what_does_not_fail_is_asked_once_and_gets_its_delta_as_it_is() -> None:
    asked: list[Value] = []

    def once(value: Value) -> Value:
        asked.append(value)
        return value

    delta = zset((1, 1), (1, -1))
    assert run_cancelling(once, 0, [delta]) is delta
    assert len(asked) == 1


def test_a_step_is_given_each_row_of_a_bag_once(tmp_path: Path) -> None:
    builder = CircuitBuilder()
    source(builder, "bag", SCHEMA)
    ordered = SCHEMA.append(pa.field(SEQUENCE, pa.int64()))
    source(builder, "keyed", ordered)
    circuit, segments = builder.build(), Segments(tmp_path)

    def parts(*deltas: ZSet) -> list[Input]:
        return [Input(0, delta.to_batch()) for delta in deltas]

    keyed = parts(zset((1, 1)), zset((1, -1)))
    found = cancelled(circuit, {"bag": parts(zset((1, 1), (2, 1)), zset((1, -1))), "keyed": keyed}, segments)
    assert found is not None
    (one,) = found["bag"]
    assert isinstance(one.batch, pa.RecordBatch)
    assert naive_of(ZSet.from_batch(one.batch)) == naive_of(zset((2, 1)))
    assert found["keyed"] is keyed, "where the order of rows counts they stay"
    assert cancelled(circuit, {"bag": parts(zset((1, 1)), zset((2, -1)))}, segments) is None
    assert cancelled(circuit, {"keyed": keyed}, segments) is None


def test_what_fails_over_rows_that_do_not_cancel_is_not_asked_again() -> None:
    asked = []

    def failing(value: Value) -> Value:
        asked.append(value)
        return refusing_zero(value)

    with pytest.raises(EvaluationError, match="zero"):
        run_cancelling(failing, 0, [zset((0, 1), (1, 1))])
    assert len(asked) == 1
