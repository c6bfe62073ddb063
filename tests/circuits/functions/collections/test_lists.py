"""Arrays as one run of elements: whose each is, and back, whatever lies beneath NULLs and before a slice."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.functions.collections.lists import first_equals, joined, list_array, lists_of
from dbsp.testing.bags import identity
from tests.generators.columns.zsets import array_of

INTS, MAPS = pa.list_(pa.int32()), pa.map_(pa.string(), pa.int32())
SHARED = [
    (INTS, st.one_of(st.none(), st.sampled_from([[], [1], [1, None], [None, 1], [1, 2]]))),
    (MAPS, st.one_of(st.none(), st.sampled_from([[], [("a", 1)], [("a", None), ("b", 2)]]))),
]


@pytest.mark.parametrize(("data_type", "values"), SHARED, ids=["lists", "maps"])
@given(data=st.data(), ragged=st.integers(0, 2))
def test_elements_and_back(data_type: pa.DataType, values: Any, data: st.DataObject, ragged: int) -> None:
    listed = data.draw(st.lists(values, max_size=5))
    lists = lists_of(array_of(listed, data_type, ragged))
    lengths = [len(one or []) for one in listed]
    assert lists.lengths.tolist() == lengths
    assert lists.valid.tolist() == [one is not None for one in listed]
    assert len(lists.elements) == sum(lengths)
    assert lists.owner.tolist() == [i for i, length in enumerate(lengths) for _ in range(length)]
    assert lists.within.tolist() == [i for length in lengths for i in range(length)]
    assert lists.starts.tolist() == [sum(lengths[:i]) for i in range(len(lengths))]
    assert list_array(data_type, lists).to_pylist() == listed


array = st.one_of(st.none(), st.lists(st.one_of(st.none(), st.integers(0, 2)), max_size=3))


@given(st.lists(array, max_size=5), st.integers(0, 3))
def test_chosen_elements(listed: list[Any], one_in: int) -> None:
    lists = lists_of(pa.array(listed, INTS))
    kept = np.arange(len(lists.elements)) % (one_in + 1) == 0
    places = iter(kept.tolist())
    expected = [None if a is None else [x for x in a if next(places)] for a in listed]
    assert list_array(INTS, lists.chosen(kept)).to_pylist() == expected


@given(st.lists(st.tuples(array, array, array), max_size=4))
def test_row_by_row_one_after_the_other(listed: list[tuple[Any, ...]]) -> None:
    several = [lists_of(pa.array([row[i] for row in listed], INTS)) for i in range(3)]
    both, source = joined(several)
    assert list_array(INTS, both).to_pylist() == [
        None if None in row else list(chain(*row)) for row in listed
    ]
    assert source.tolist() == [
        i for row in listed if None not in row for i, one in enumerate(row) for _ in one
    ]


doubles = st.one_of(st.none(), st.sampled_from([0.0, 1.5, float("nan")]))


@given(st.lists(st.lists(doubles, max_size=4), max_size=4))
def test_the_first_that_equals(listed: list[list[Any]]) -> None:
    lists = lists_of(pa.array(listed, pa.list_(pa.float64())))
    expected, start = [], 0
    for one in listed:
        named = [identity(x) for x in one]
        expected += [start + named.index(x) for x in named]
        start += len(one)
    assert first_equals(lists.owner, lists.elements).tolist() == expected


def test_zeros_are_one() -> None:
    assert first_equals(np.array([0, 0, 1]), pa.array([0.0, -0.0, 0.0])).tolist() == [0, 0, 2]
