"""COUNT: the weights of a group's rows, or of those with a value, on both sides of a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.aggregates.counts import Count
from dbsp.circuits.operators.groups.combine import Combine
from dbsp.circuits.operators.groups.state.accumulators import Values
from dbsp.circuits.operators.groups.state.sides import Groups, Sides
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from tests.generators.columns.zsets import zset_of

SCHEMA = pa.schema([("k", pa.int32()), ("x", pa.string())])
row = st.tuples(st.integers(0, 2), st.sampled_from([None, "a", "b"]))
listings = st.lists(st.tuples(row, st.integers(-2, 2)), max_size=8)


@given(listings, listings)
def test_rows_and_values(held: list[Any], change: list[Any]) -> None:
    combine = Combine(1, (Values(1),))
    layout = Layout(combine.schema(SCHEMA), (0,), sums=(1,))
    parts = [combine.step(Context(0, 1, None, True), zset_of(SCHEMA, part)) for part in (held, change)]
    before, delta = (Batch.build(layout, part, 0) for part in parts)
    integral = Integral(layout, as_runs(before), delta)
    groups = Groups([pa.array([0, 1, 2], pa.int32())], 3, 0)
    sides, there = Sides(groups, (combine.accumulators,), [integral]), np.ones(6, np.bool_)
    rows = Count().finalize(sides, there, pa.int64()).to_pylist()
    values = Count(values=Values(1)).finalize(sides, there, pa.int64()).to_pylist()
    for first, listed in ((0, held), (3, held + change)):
        for g in range(3):
            assert rows[first + g] == sum(w for (k, _), w in listed if k == g)
            assert values[first + g] == sum(w for (k, x), w in listed if k == g and x is not None)
