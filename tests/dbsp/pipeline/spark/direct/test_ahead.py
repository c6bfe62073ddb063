"""What is ahead of a step, and when that is enough."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dbsp.pipeline.spark.direct import ahead
from dbsp.pipeline.spark.direct.ahead import Taken
from dbsp.pipeline.spark.direct.messages import Messages


def test_what_comes_next_is_behind_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "MOST_BYTES", 100)
    rows = pa.RecordBatch.from_pydict({"n": [1]})
    held = Messages("t", 0, pa.array([b"x" * 50], pa.large_binary()), pa.nulls(1), np.array([3]))
    whole = Taken()
    whole.add(Taken(rows=[((0,), rows)], count=1, size=8))
    assert (whole.count, whole.size, whole.is_full(2), whole.is_full(1)) == (1, 8, False, True)
    whole.add(Taken(rows=[((1,), rows)], bad=[rows], refused=[held], count=2, size=8))
    assert [order for order, _ in whole.rows] == [(0,), (1,)]
    assert (whole.bad, whole.refused, whole.count) == ([rows], [held], 3)
    assert whole.size >= 66
    whole.add(Taken(refused=[held]))  # which take room, too
    assert whole.is_full(1_000)
