"""The sketch of what is left, in which no count is too small; that its bytes are Spark's is a feature."""

from __future__ import annotations

import struct
from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.aggregates.sketches.count_min import Cells, CountMinSketch, factors_of
from dbsp.circuits.operators.groups.state.members import Members

values = st.one_of(st.lists(st.integers(-3, 3)), st.lists(st.sampled_from(["", "a", "bc", "def", "ghijk"])))


@given(values, st.integers(-3, 3))
def test_no_value_is_counted_too_rarely(listed: list[int] | list[str], seed: int) -> None:
    sketch = CountMinSketch(0.2, 0.9, seed)
    cells = sketch.split
    assert isinstance(cells, Cells)
    array = pa.array(
        [*listed, *listed, *listed, None], pa.string() if str in map(type, listed) else pa.int64()
    )
    weights = np.array([*[2] * len(listed), *[-2] * len(listed), *[1] * len(listed), 1], np.int64)
    position, (cell,), amount = cells.split([array])
    columns = [pa.array(cell), pa.array(amount * weights[position])]
    members = Members(np.zeros(len(position), np.int64), columns, np.ones(len(position), np.int64), 1)
    (made,) = sketch.finalize(members, pa.binary()).to_pylist()
    version, total, depth, width = struct.unpack(">iqii", made[:20])
    assert (version, total, depth, width) == (1, len(listed), 4, 10)
    table = np.frombuffer(made[20 + 8 * depth :], ">i8")
    for value, often in Counter(listed).items():
        _, (own,), _ = cells.split([pa.array([value], array.type)])
        assert table[own].min() >= often
    assert table.sum() == depth * len(listed)


def test_factors_are_those_of_javas_random() -> None:
    assert factors_of(42, 3) == (1562431130, 117392763, 1467211248)
