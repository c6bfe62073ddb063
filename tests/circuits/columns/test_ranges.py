"""Ranges, listed: what nested loops over them visit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.ranges import expand_in_blocks, expand_lengths, expand_ranges

ranges = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), max_size=8)
ones = st.lists(st.tuples(st.integers(0, 5), st.just(1)), max_size=8)


def arrays(drawn: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    start = np.array([first for first, _ in drawn], dtype=np.int64)
    return start, start + np.array([length for _, length in drawn], dtype=np.int64)


def pairs(owner: np.ndarray, position: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(owner.tolist(), position.tolist(), strict=True))


@given(st.one_of(ranges, ones))
def test_every_position_of_every_range(drawn: list[tuple[int, int]]) -> None:
    visited = [(i, j) for i, (first, length) in enumerate(drawn) for j in range(first, first + length)]
    assert pairs(*expand_ranges(*arrays(drawn))) == visited


@given(st.lists(st.integers(0, 4), max_size=8))
def test_elements_are_numbered_within_their_list(lengths: list[int]) -> None:
    visited = [(i, j) for i, length in enumerate(lengths) for j in range(length)]
    assert pairs(*expand_lengths(np.array(lengths, dtype=np.int64))) == visited


@given(ranges, st.integers(1, 6))
def test_blocks_are_the_whole_and_bounded(drawn: list[tuple[int, int]], most: int) -> None:
    blocks = [pairs(*block) for block in expand_in_blocks(*arrays(drawn), most)]
    assert [pair for block in blocks for pair in block] == pairs(*expand_ranges(*arrays(drawn)))
    assert all(len(block) <= most or len({i for i, _ in block}) == 1 for block in blocks)


@pytest.mark.parametrize(("start", "stop"), [([0, 3], [0, 5]), ([4, 1, 2], [6, 1, 3]), ([2, 7], [3, 8])])
def test_as_many_pairs_as_ranges(start: list[int], stop: list[int]) -> None:
    owner, there = expand_ranges(np.array(start), np.array(stop))
    pairs = [(i, j) for i, (a, b) in enumerate(zip(start, stop, strict=True)) for j in range(a, b)]
    assert list(zip(owner.tolist(), there.tolist(), strict=True)) == pairs
