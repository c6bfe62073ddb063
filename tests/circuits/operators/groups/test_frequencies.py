"""Frequencies: of each value that is there one row, whose rank is greater the more often it is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.frequencies import Frequencies
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from tests.generators.columns.zsets import zset_of
from tests.laws.operators_laws import hash_seeds

# values that share a code, and the first bits of one
VALUES: dict[pa.DataType, list[Any]] = {
    pa.int64(): [-(2**63), -1, 0, 1, 2**20, 2**20 + 1, 2**40, 2**40 + 1],
    pa.string(): ["", "a", "same", "same a", "same b", "samf"],
    pa.float64(): [-1e300, -1.0, 0.0, 1.0, 1.0 + 2**-40, float("inf")],
}
listing = st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 5)), st.integers(-2, 3), max_size=8)


@pytest.mark.parametrize("greatest", [False, True])
@given(st.sampled_from(list(VALUES)), st.lists(listing, min_size=1, max_size=4), hash_seeds)
def test_frequencies(greatest: bool, kind: pa.DataType, steps: list[dict[Any, int]], seed: int) -> None:
    schema = pa.schema([("k", pa.int64()), ("x", kind)])
    layout, operator, context = Layout(schema, (0,)), Frequencies(1, greatest), Context(seed, 1, None, True)
    held: list[Batch] = []
    table, found = Counter[Any](), Counter[Any]()
    for step in steps:
        rows = {(k, VALUES[kind][v]): weight for (k, v), weight in step.items() if weight}
        delta = Batch.build(layout, zset_of(schema, list(rows.items())), seed)
        change = operator.step(context, Integral(layout, as_runs(*held), delta))
        assert change.rows.schema.equals(operator.schema(schema))
        for row, weight in zip(
            zip(*(c.to_pylist() for c in change.rows.columns), strict=True), change.weights, strict=True
        ):
            found[row] += weight
        held.append(delta)
        table.update(rows)
        there = {row: weight for row, weight in found.items() if weight}
        assert set(there.values()) <= {1}
        assert {(k, x) for k, _, x in there} == {row for row, weight in table.items() if weight > 0}
        for group in range(3):
            by_rank = sorted((rank, x) for k, rank, x in there if k == group)
            often = [(table[group, x] if greatest else -table[group, x], x) for _, x in by_rank]
            assert often == sorted(often)


def test_values_that_are_there_once_have_different_ranks() -> None:
    schema = pa.schema([("k", pa.int64()), ("x", pa.int64())])
    layout = Layout(schema, (0,))
    delta = Batch.build(layout, zset_of(schema, [((0, x), 1) for x in range(1000)]), 0)
    change = Frequencies(1, True).step(Context(0, 1, None, True), Integral(layout, (), delta))
    ordered = Layout(change.rows.schema, (0,), order=1)
    assert len(np.unique(ordered.sort_keys(change.rows, 0))) == 1000
