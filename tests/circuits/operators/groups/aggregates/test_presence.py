"""Presence: true where a value is left, else NULL, on both sides of a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given

from dbsp.circuits.operators.groups.aggregates.presence import Presence
from dbsp.circuits.operators.groups.combine import Combine
from dbsp.circuits.operators.groups.state.accumulators import Values
from dbsp.circuits.operators.groups.state.sides import Groups, Sides
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from tests.circuits.operators.groups.aggregates.test_counts import SCHEMA, listings
from tests.generators.columns.zsets import zset_of


@given(listings, listings)
def test_a_group_has_a_value(held: list[Any], change: list[Any]) -> None:
    combine = Combine(1, (Values(1),))
    layout = Layout(combine.schema(SCHEMA), (0,), sums=(1,))
    parts = [combine.step(Context(0, 1, None, True), zset_of(SCHEMA, part)) for part in (held, change)]
    before, delta = (Batch.build(layout, part, 0) for part in parts)
    integral = Integral(layout, as_runs(before), delta)
    groups = Groups([pa.array([0, 1, 2], pa.int32())], 3, 0)
    sides = Sides(groups, (combine.accumulators,), [integral])
    places = Presence(values=Values(1)).finalize(sides, np.ones(6, np.bool_), pa.bool_()).to_pylist()
    for found, listed in ((places[:3], held), (places[3:], held + change)):
        counts = [sum(w for (k, x), w in listed if k == g and x is not None) for g in range(3)]
        assert found == [True if count > 0 else None for count in counts]
