"""Aggregates of all values of a group, against plain Python; HyperLogLog++ against Spark."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.groups.aggregates.collected import Collect, Join, Mode, Some
from dbsp.circuits.operators.groups.aggregates.hyperloglog import ApproximateCount, Registers
from dbsp.circuits.operators.groups.aggregates.percentiles import Percentile
from dbsp.circuits.operators.groups.state.members import Finalizer, Members

TEXT = st.sampled_from(["", "a", "b", "ab", "ä"])
NUMBERS = st.integers(-3, 3)
groups = st.lists(st.tuples(st.integers(0, 2), NUMBERS, TEXT), max_size=12)
Rows = list[tuple[int, int, str]]


def members(rows: Rows, gone: Rows, *columns: int) -> Members:
    """Three groups; what is gone was there too, twice listed."""
    listed = [*rows, *gone, *gone]
    weights = [1] * (len(rows) + len(gone)) + [-1] * len(gone)
    arrays = [pa.array([row[i] for row in listed], pa.int64() if i == 1 else pa.string()) for i in columns]
    owner = np.array([row[0] for row in listed], dtype=np.int64)
    return Members(owner, arrays, np.array(weights, dtype=np.int64), 3)


def by_group(rows: Rows, column: int) -> list[list[Any]]:
    return [sorted(row[column] for row in rows if row[0] == group) for group in range(3)]


def found(finalizer: Finalizer, given: Members, data_type: pa.DataType) -> list[Any]:
    result = finalizer.finalize(given, data_type)
    assert result.type == data_type and len(result) == 3
    result.validate(full=True)
    values: list[Any] = result.to_pylist()
    return values


@given(groups, groups)
def test_lists_are_the_values_in_order(rows: Rows, gone: Rows) -> None:
    kind = pa.list_(pa.int64())
    assert found(Collect(), members(rows, gone, 1), kind) == by_group(rows, 1)
    once = [sorted(set(values)) for values in by_group(rows, 1)]
    assert found(Collect(once=True), members(rows, gone, 1), kind) == once


@given(groups, groups)
def test_joined_text_is_in_the_order_asked_for(rows: Rows, gone: Rows) -> None:
    expected = []
    for group in range(3):
        mine = sorted(((-number, text) for owner, number, text in rows if owner == group))
        expected.append("-".join(text for _, text in mine) if mine else None)
    finalizer = Join("-", (SortKey(1, descending=True),))
    assert found(finalizer, members(rows, gone, 2, 1), pa.string()) == expected


@given(groups, groups)
def test_the_mode_is_the_most_frequent_value(rows: Rows, gone: Rows) -> None:
    for greatest in (False, True):
        expected: list[int | None] = []
        for values in by_group(rows, 1):
            counts = Counter(values)
            most = [value for value, count in counts.items() if count == max(counts.values())]
            expected.append((max if greatest else min)(most) if most else None)
        assert found(Mode(greatest), members(rows, gone, 1), pa.int64()) == expected


@given(groups, groups)
def test_any_value_is_one_of_them(rows: Rows, gone: Rows) -> None:
    expected = [values[0] if values else None for values in by_group(rows, 1)]
    assert found(Some(), members(rows, gone, 1), pa.int64()) == expected


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


def estimate(numbers: range) -> int:
    rows = pa.record_batch([pa.array(numbers, pa.int64())], names=["n"])
    hashes = evaluate(Call("xx_hash64", (Column(0, pa.int64()),), pa.int64()), rows)
    at, index, amount = Registers().split([hashes])
    # what is retracted leaves no trace
    gone = np.arange(len(at)) % 3 == 0
    columns = [pa.array(np.concatenate([column, column[gone]])) for column in index]
    columns.append(pa.array(np.concatenate([2 * amount, -amount[gone]])))
    owner = np.zeros(len(columns[0]), dtype=np.int64)
    result = ApproximateCount().finalize(
        Members(owner, columns, np.ones(len(owner), np.int64), 1), pa.int64()
    )
    return int(result[0].as_py())


@pytest.mark.spark
def test_estimates_are_sparks(spark: Any) -> None:
    """Below the threshold of linear counting, within and beyond the reach of bias correction."""
    sizes = [0, 1, 50, 380, 420, 700, 1500, 2500, 6000, 40000]
    counts = [f"approx_count_distinct(id) FILTER (WHERE id < {size})" for size in sizes]
    (row,) = spark.sql(f"SELECT {', '.join(counts)} FROM range(40000)").collect()
    assert [estimate(range(size)) for size in sizes] == list(row)
