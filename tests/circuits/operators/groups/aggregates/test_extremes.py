"""The extreme value of a group, and the one beside it, after any retractions: a sort in Python says which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.aggregates import extremes
from dbsp.circuits.operators.groups.aggregates.extremes import OrderedExtreme
from dbsp.circuits.operators.groups.state.sides import Groups, Sides
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from tests.generators.columns.zsets import zset_of
from tests.laws.operators_laws import hash_seeds

SCHEMA = pa.schema([("k", pa.int32()), ("x", pa.string()), ("y", pa.int32())])
# longer than an order code, so that codes tie
strings = st.sampled_from(["", "same", "same prefix a", "same prefix b", "z"])
row = st.tuples(st.integers(0, 2), strings, st.one_of(st.none(), st.integers(-2, 2)))
listings = st.lists(st.tuples(row, st.integers(-1, 2)), max_size=8)


def integral_of(width: int, seed: int, parts: list[Any]) -> Integral:
    schema = pa.schema([SCHEMA.field(i) for i in range(width)])
    layout = Layout(schema, (0,), order=1)
    cut = [[(values[:width], weight) for values, weight in part] for part in parts]
    *before, delta = (Batch.build(layout, zset_of(schema, part), seed) for part in cut)
    return Integral(layout, as_runs(*before), delta)


@pytest.fixture(scope="module")
def fetching_one() -> Iterator[None]:
    """So that extremes are looked for more than once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extremes, "_FIRST_FETCH", 1)
        yield


@pytest.mark.usefixtures("ties", "fetching_one")
@pytest.mark.parametrize("greatest", [False, True])
@pytest.mark.parametrize("width", [2, 3])
@given(parts=st.lists(listings, min_size=1, max_size=4), seed=hash_seeds)
def test_extremes_on_both_sides(width: int, greatest: bool, parts: list[Any], seed: int) -> None:
    integral = integral_of(width, seed, parts)
    groups = Groups([pa.array([0, 1, 2], pa.int32())], 3, seed)
    sides, there = Sides(groups, (), [integral]), np.ones(6, np.bool_)
    places = OrderedExtreme(0, greatest).finalize(sides, there, SCHEMA.field(width - 1).type).to_pylist()
    for found, listed in ((places[:3], parts[:-1]), (places[3:], parts)):
        totals: Counter[Any] = Counter()
        for part in listed:
            for values, weight in part:
                totals[values[:width]] += weight
        for group in range(3):
            # NULL is the least value beside the extreme ordering
            there_now = [key[1:] for key, weight in totals.items() if key[0] == group and weight > 0]
            held = [(x, *((y is not None, y or 0) for y in rest)) for x, *rest in there_now]
            best = (max if greatest else min)(held, default=None)
            if best is None:
                assert found[group] is None
            else:
                assert found[group] == (best[0] if width == 2 else best[1][1] if best[1][0] else None)


def test_many_retracted_ones_are_passed() -> None:
    """More is fetched until one is decided."""
    rows = [((0, f"same prefix {i:04}", None), 1) for i in range(500)]
    integral = integral_of(2, 0, [rows, [(values, -1) for values, _ in rows[1:]], []])
    sides = Sides(Groups([pa.array([0], pa.int32())], 1, 0), (), [integral])
    found = OrderedExtreme(0, greatest=True).finalize(sides, np.ones(2, np.bool_), pa.string())
    assert found.to_pylist() == ["same prefix 0000"] * 2
