"""Percentiles by rank beside listed ones, on both sides of a step: a sort in Python says which."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.aggregates.percentiles import Percentile
from dbsp.circuits.operators.groups.aggregates.ranked import percentile as module
from dbsp.circuits.operators.groups.aggregates.ranked import ranks
from dbsp.circuits.operators.groups.aggregates.ranked.percentile import RankedPercentile
from dbsp.circuits.operators.groups.state.sides import Groups, Sides
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from tests.generators.columns.zsets import zset_of
from tests.laws.operators_laws import hash_seeds

SCHEMA = pa.schema([("k", pa.int32()), ("l", pa.string()), ("x", pa.int64())])
KEYS: list[Any] = [(k, name) for k in (None, 0, 1) for name in ("a", "b")]
# the last two share a code
VALUES = (-3, 0, 2, 2**40, 2**40 + 1)


@pytest.fixture(scope="module", autouse=True, params=[module._WORTH, 0, 3])
def worth(request: pytest.FixtureRequest) -> Iterator[None]:
    """All groups are small, or all large, or some of both."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WORTH", request.param)
        patch.setattr(ranks, "_FEW", 0)
        yield


@st.composite
def histories(draw: st.DrawFn) -> list[dict[Any, int]]:
    """Parts whose sum has no negative weights before the last one, nor with it."""
    row = st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES))
    parts = draw(st.lists(st.dictionaries(row, st.integers(-1, 2), max_size=12), min_size=1, max_size=3))
    total = sum_of(parts)
    parts.append({key: -weight for key, weight in total.items() if weight < 0})
    delta = draw(st.dictionaries(row, st.integers(-2, 2), max_size=6))
    total = sum_of(parts)
    return [*parts, {key: max(weight, -total[key]) for key, weight in delta.items()}]


def sum_of(parts: list[dict[Any, int]]) -> Counter[Any]:
    total = Counter[Any]()
    for part in parts:
        total.update(part)
    return total


def sides_of(parts: list[dict[Any, int]], keys: list[Any], seed: int) -> Sides:
    layout = Layout(SCHEMA, (0, 1), order=2)
    *before, delta = (
        Batch.build(layout, zset_of(SCHEMA, [((*k, x), w) for (k, x), w in part.items() if w]), seed)
        for part in parts
    )
    columns = [pa.array([key[i] for key in keys], SCHEMA.field(i).type) for i in (0, 1)]
    return Sides(Groups(columns, len(keys), seed), (), [Integral(layout, as_runs(*before), delta)])


def by_the_book(values: list[int], p: float, descending: bool) -> tuple[Any, Any]:
    """(percentile_cont, percentile_disc)"""
    if not values:
        return None, None
    ordered = sorted(values, reverse=descending)
    place = (len(ordered) - 1) * p
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    between = low if place == math.floor(place) else low + (high - low) * (place - math.floor(place))
    return float(between), ordered[max(math.ceil(len(ordered) * p) - 1, 0)]


@given(histories(), hash_seeds, st.sets(st.sampled_from(KEYS), min_size=1), st.booleans())
def test_both_sides(parts: list[dict[Any, int]], seed: int, asked: set[Any], descending: bool) -> None:
    keys, percentages = sorted(asked, key=repr), (0.0, 0.3, 0.5, 1.0)
    sides, there = sides_of(parts, keys, seed), np.ones(2 * len(keys), np.bool_)
    kinds = ("continuous", pa.float64()), ("discrete", pa.int64())
    found = [
        RankedPercentile(0, Percentile(kind, percentages, many=True, descending=descending))
        .finalize(sides, there, pa.list_(data_type))
        .to_pylist()
        for kind, data_type in kinds
    ]
    for place, (of, key) in enumerate([(side, key) for side in (parts[:-1], parts) for key in keys]):
        values = [x for (k, x), weight in sum_of(of).items() if k == key for _ in range(weight)]
        expected = [by_the_book(values, p, descending) for p in percentages]
        for i in range(2):
            assert found[i][place] == ([each[i] for each in expected] if values else None)


def test_groups_whose_hashes_begin_alike_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WORTH", 0)
    parts = [{((1, "a"), x): 1 for x in VALUES}, {((0, "b"), 0): 1}]
    there = np.ones(2, np.bool_)
    monkeypatch.setattr(module, "mingled", lambda *_: np.array([True]))
    median = RankedPercentile(0, Percentile("discrete", (0.5,)))
    monkeypatch.setattr(ranks.Ranks, "values", None)
    assert median.finalize(sides_of(parts, [(1, "a")], 0), there, pa.int64()).to_pylist() == [2, 2]
