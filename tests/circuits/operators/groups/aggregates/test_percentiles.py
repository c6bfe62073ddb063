"""Percentiles, against a look at the sorted values of each group."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.groups.aggregates.percentiles import Percentile, copies
from dbsp.circuits.operators.groups.state.members import Members
from tests.circuits.operators.groups.aggregates.test_collected import Rows, by_group, found, groups, members


@given(groups, groups, st.sampled_from([0.0, 0.1, 0.5, 0.75, 1.0]))
def test_percentiles_lie_between_neighbours(rows: Rows, gone: Rows, p: float) -> None:
    for descending in (False, True):
        expected: list[float | None] = []
        ranked: list[int | None] = []
        for values in by_group(rows, 1):
            ordered = values[::-1] if descending else values
            place = (len(ordered) - 1) * p
            low, high = math.floor(place), math.ceil(place)
            between = ordered and (
                ordered[low] if low == high else ordered[low] + (ordered[high] - ordered[low]) * (place - low)
            )
            expected.append(float(between) if ordered else None)
            ranked.append(ordered[max(math.ceil(len(ordered) * p) - 1, 0)] if ordered else None)
        given = members(rows, gone, 1)
        assert found(Percentile("continuous", (p,), descending=descending), given, pa.float64()) == expected
        assert found(Percentile("discrete", (p,), descending=descending), given, pa.int64()) == ranked
        many = found(Percentile("discrete", (p, p), True, descending), given, pa.list_(pa.int64()))
        assert many == [None if value is None else [value, value] for value in ranked]


def test_frequencies_are_not_negative() -> None:
    given = Members(np.array([0]), [pa.array([1]), pa.array([-1])], np.array([1]), 1)
    with pytest.raises(EvaluationError, match="NEGATIVE_VALUES_IN_FREQUENCY_EXPRESSION"):
        Percentile("continuous", (0.5,), frequencies=True).finalize(given, pa.float64())


frequencies = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=1, max_size=6)


@given(frequencies, st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_a_frequency_is_so_many_copies(listed: list[tuple[int, int]], p: float) -> None:
    columns = [pa.array([pair[i] for pair in listed], pa.int64()) for i in range(2)]
    owner, ones = np.zeros(len(listed), np.int64), np.ones(len(listed), np.int64)
    values = [value for value, often in listed for _ in range(often)]
    repeated = Members(
        np.zeros(len(values), np.int64), [pa.array(values, pa.int64())], np.ones(len(values), np.int64), 1
    )
    for kind, data_type in (("continuous", pa.float64()), ("discrete", pa.int64())):
        counted = Percentile(kind, (p,), frequencies=True).finalize(
            Members(owner, columns, ones, 1), data_type
        )
        assert counted.equals(Percentile(kind, (p,)).finalize(repeated, data_type))


def test_an_approximate_one_is_exact_but_for_the_ends() -> None:
    """Within 1 / accuracy of an end it is that end, as Spark's summary gives it."""
    given_ = Members(np.zeros(10, np.int64), [pa.array(range(10))], np.ones(10, np.int64), 1)
    percentages = (0.0, 0.1, 0.5, 0.95, 1.0)
    asked = Percentile("approximate", percentages, many=True)
    assert asked.finalize(given_, pa.list_(pa.int64())).to_pylist() == [[0, 0, 4, 9, 9]]
    coarse = Percentile("approximate", (0.3, 0.8), many=True, accuracy=2)
    assert coarse.finalize(given_, pa.list_(pa.int64())).to_pylist() == [[0, 9]]


def test_decimals_lie_between_by_their_digits() -> None:
    values = [pa.array([Decimal("0.1"), Decimal("0.3")], pa.decimal128(2, 1))]
    given_ = Members(np.zeros(2, np.int64), values, np.ones(2, np.int64), 1)
    (half,) = Percentile("continuous", (0.5,)).finalize(given_, pa.float64()).to_pylist()
    assert half == 0.1 + (0.3 - 0.1) * 0.5


def test_copies() -> None:
    assert copies(pa.array([0, 3], pa.int32())).tolist() == [0, 3]
