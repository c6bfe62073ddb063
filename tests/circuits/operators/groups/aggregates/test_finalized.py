"""A finalizer reads its group's rows, or their parts, as they are on a side of the step."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.aggregates.bits import Bitwise
from dbsp.circuits.operators.groups.aggregates.collected import Collect
from dbsp.circuits.operators.groups.aggregates.finalized import Finalized
from dbsp.circuits.operators.groups.combine import CombineParts
from dbsp.circuits.operators.groups.state.sides import Groups, Sides
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from tests.generators.columns.zsets import zset_of
from tests.laws.operators_laws import hash_seeds

SCHEMA = pa.schema([("k", pa.int32()), ("x", pa.int32())])
listings = st.lists(st.tuples(st.tuples(st.integers(0, 2), st.integers(0, 5)), st.integers(1, 2)), max_size=6)


@given(listings, st.data(), hash_seeds)
def test_the_rows_that_are_left(held: list[Any], data: Any, seed: int) -> None:
    """Rows, and then some of them taken back."""
    gone = [(row, -weight) for row, weight in held if data.draw(st.booleans())]
    rows, change = zset_of(SCHEMA, held), zset_of(SCHEMA, gone)
    split = Bitwise("bit_xor").split
    combine, context = CombineParts(1, split), Context(seed, 1, None, True)
    integrals = []
    for layout, before, delta in (
        (Layout(SCHEMA, (0,)), rows, change),
        (
            Layout(combine.schema(SCHEMA), (0,), sums=(2,)),
            combine.step(context, rows),
            combine.step(context, change),
        ),
    ):
        runs = as_runs(Batch.build(layout, before, seed))
        integrals.append(Integral(layout, runs, Batch.build(layout, delta, seed)))
    groups = Groups([pa.array([0, 1, 2], pa.int32())], 3, seed)
    sides, there = Sides(groups, (), integrals), np.ones(6, np.bool_)
    lists = Finalized(0, Collect()).finalize(sides, there, pa.list_(pa.int32())).to_pylist()
    bits = Finalized(1, Bitwise("bit_xor")).finalize(sides, there, pa.int32()).to_pylist()
    for first, listed in ((0, held), (3, held + gone)):
        totals: Counter[Any] = Counter()
        for row, weight in listed:
            totals[row] += weight
        values = [sorted(x for (k, x), w in totals.items() if k == g for _ in range(w)) for g in range(3)]
        assert lists[first : first + 3] == values
        folded = [int(np.bitwise_xor.reduce(group)) if group else None for group in values]
        assert bits[first : first + 3] == folded
