"""What waits for the next step keeps its order, over all tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.steps.task import Input
from dbsp.running.queue import Queue, weighted


def batch(rows: int) -> pa.RecordBatch:
    plain = pa.RecordBatch.from_arrays([pa.array(range(rows), pa.int64())], names=["a"])
    return weighted(plain, np.full(rows, -2))


def test_each_part_knows_its_place_among_all_rows() -> None:
    staged = Chunk("staged-1", 0, 64, 7)
    queue = Queue()
    one, none, two = batch(3), batch(0), batch(2)
    queue.add("b", [one, staged])
    queue.add("a", [none])
    queue.add("b", [two])
    assert queue.inputs == {"b": [Input(0, one), Input(3, staged), Input(10, two)], "a": [Input(10, none)]}
    assert queue.rows == {"b": 12}
    assert queue.segments == {"staged-1"}


def test_nothing_waits() -> None:
    assert (Queue().inputs, Queue().rows, Queue().segments) == ({}, {}, set())
    assert Queue().parts is not Queue().parts


def test_weights_are_the_last_column() -> None:
    assert batch(2).to_pylist() == [{"a": 0, "__weight": -2}, {"a": 1, "__weight": -2}]
    assert batch(0).schema.field("__weight") == pa.field("__weight", pa.int64(), nullable=False)
