"""The k-th least of any stretch, against sorting it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.windows.quantiles import Quantiles

pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=12)


@given(pairs)
@example([(0, 1)])
@example([(7, 0), (7, 2), (0, 1)])
def test_every_place_of_every_stretch(listed: list[tuple[int, int]]) -> None:
    ranks, often = (np.array([pair[i] for pair in listed], np.int64) for i in range(2))
    asked = [(a, b) for b in range(len(listed) + 1) for a in range(b + 1)]
    sorted_ = [sorted(rank for rank, n in listed[a:b] for _ in range(n)) for a, b in asked]
    wanted = [(a, b, k) for (a, b), values in zip(asked, sorted_, strict=True) for k in range(len(values))]
    start, stop, place = (np.array([each[i] for each in wanted], np.int64) for i in range(3))
    expected = [value for values in sorted_ for value in values]
    assert Quantiles(ranks, often).find(start, stop, place).tolist() == expected


@pytest.mark.parametrize("greatest", [1, 2, 255, 256, 2**40])
def test_large_ranks(greatest: int) -> None:
    ranks = np.array([greatest, 0, greatest - 1], np.int64)
    found = Quantiles(ranks, np.ones(3, np.int64)).find(np.zeros(3, np.int64), np.full(3, 3), np.arange(3))
    assert found.tolist() == sorted(ranks.tolist())


def test_more_than_a_few() -> None:
    ranks = np.random.default_rng(7).integers(0, 1000, 2000)
    start, stop = np.array([0, 100, 1990]), np.array([2000, 1100, 2000])
    place = np.array([999, 0, 9])
    expected = [np.sort(ranks[a:b])[k] for a, b, k in zip(start, stop, place, strict=True)]
    found = Quantiles(ranks, np.ones(2000, np.int64)).find(start, stop, place)
    assert found.tolist() == expected


def test_nothing() -> None:
    nothing = np.zeros(0, np.int64)
    assert Quantiles(nothing, nothing).find(nothing, nothing, nothing).tolist() == []
