"""Rows in the order of an ORDER BY list: against Python's sort with a comparison written out."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns import sorting
from dbsp.circuits.columns.sorting import (
    SortKey,
    dense_ranks,
    exact_ranks,
    ranks,
    sort_keys,
    sort_rows,
    sort_words,
)
from dbsp.circuits.columns.sorting import compare as compare_arrays
from dbsp.testing.bags import identity
from tests.generators.columns.zsets import TYPES, VALUES, Row, array_of, rows_of, schema_of, schemas


def compare(a: Any, b: Any) -> int:
    """Spark's order of two values, NULL first."""
    if a is None or b is None:
        return (a is not None) - (b is not None)
    if isinstance(a, float):
        return (a > b) - (a < b) if not (math.isnan(a) or math.isnan(b)) else math.isnan(a) - math.isnan(b)
    if isinstance(a, str):
        return compare(a.encode(), b.encode())
    if isinstance(a, dict):
        a, b = list(a.values()), list(b.values())
    if isinstance(a, list | tuple):
        return next((c for c in map(compare, a, b) if c), (len(a) > len(b)) - (len(a) < len(b)))
    return (a > b) - (a < b)


def by_list(a: Row, b: Row, order: tuple[SortKey, ...]) -> int:
    for item in order:
        x, y = a[item.column], b[item.column]
        if (x is None) != (y is None):
            return -1 if (x is None) != item.nulls_last else 1
        if c := compare(x, y):
            return -c if item.descending else c
    return 0


@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_every_type_in_every_direction(data_type: pa.DataType) -> None:
    values = [*VALUES[data_type], None, *VALUES[data_type]]
    for descending in (False, True):
        for nulls_last in (False, True):
            order = (SortKey(0, descending, nulls_last),)
            ranks = dense_ranks(sort_keys(pa.array(values, data_type), descending, nulls_last), len(values))
            for rank, x in zip(ranks, values, strict=True):
                for other, y in zip(ranks, values, strict=True):
                    assert int(np.sign(rank - other)) == by_list((x,), (y,), order), (x, y)


@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_exact_keys_tell_all_values_apart(data_type: pa.DataType) -> None:
    values = [None, *VALUES[data_type], *([-0.0] if pa.types.is_floating(data_type) else [])]
    ranks = dense_ranks(sort_keys(pa.array(values, data_type), exact=True), len(values)).tolist()
    assert len(set(ranks)) == len({identity(value) for value in values})


@st.composite
def listed(draw: st.DrawFn) -> Any:
    schema = draw(schemas)
    rows = draw(st.lists(rows_of(schema), max_size=10))
    columns = st.integers(0, len(schema) - 1)
    order = draw(st.lists(st.builds(SortKey, columns, st.booleans(), st.booleans()), max_size=3))
    groups = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    return schema, rows, tuple(order), groups, draw(st.integers(0, 2))


WORDS = st.integers(0, 3) | st.integers(0, 2**64 - 1)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=30), st.integers(1, 3), st.booleans())
def test_words_are_sorted_by_the_first_and_what_ties_by_the_next(
    rows: list[tuple[int, ...]], width: int, few: bool
) -> None:
    words = [np.array([row[i] for row in rows], np.uint64) for i in range(width)]
    with patch.object(sorting, "_FEW", 256 if few else 0):
        order, opens = sort_words(words, len(rows))
    assert sorted(order.tolist()) == list(range(len(rows)))
    found = [rows[at][:width] for at in order.tolist()]
    assert found == sorted(found)
    assert opens.tolist() == [at == 0 or found[at] != found[at - 1] for at in range(len(found))]


@given(listed(), st.booleans())
def test_rows_by_group_list_and_row(case: Any, few: bool) -> None:
    schema, rows, order, groups, ragged = case
    columns = [array_of([row[i] for row in rows], f.type, ragged) for i, f in enumerate(schema)]
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    with patch.object(sorting, "_FEW", 256 if few else 0):
        positions, peers = sort_rows(batch, np.array(groups, np.int64), order)
    assert sorted(positions.tolist()) == list(range(len(rows)))
    found = [(groups[i], rows[i]) for i in positions]

    def in_order(a: Any, b: Any) -> int:
        return int(a[0] - b[0]) or by_list(a[1], b[1], order)

    assert [in_order(a, b) <= 0 for a, b in pairwise(found)] == [True] * (len(found) - 1)
    apart = [in_order(a, b) != 0 for a, b in pairwise(found)]
    assert np.diff(peers).tolist() == [int(differs) for differs in apart]
    # however rows were listed, equal listings come out
    backwards = batch.take(pa.array(np.arange(len(rows))[::-1]))
    again, _ = sort_rows(backwards, np.array(groups[::-1], np.int64), order)
    assert [identity(rows[i]) for i in positions] == [identity(rows[len(rows) - 1 - i]) for i in again]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=12), st.lists(st.floats(), max_size=12))
def test_whole_ranges_of_numbers(integers: list[int], doubles: list[float]) -> None:
    for values, data_type in ((integers, pa.int64()), (doubles, pa.float64())):
        schema = schema_of([data_type])
        batch = pa.RecordBatch.from_arrays([pa.array(values, data_type)], schema=schema)
        positions, _ = sort_rows(batch, np.zeros(len(values), np.int64), (SortKey(0),))
        found = [values[i] for i in positions]
        assert all(compare(a, b) <= 0 for a, b in pairwise(found))


@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_ranks_and_comparisons_are_the_order(data_type: pa.DataType) -> None:
    zeros = [0.0, -0.0] if pa.types.is_floating(data_type) else []
    values = [*VALUES[data_type], None, *zeros]
    pairs = [(x, y) for x in values for y in values]
    left, right = (array_of(side, data_type, ragged=1) for side in zip(*pairs, strict=True))
    expected = [compare(x, y) for x, y in pairs]
    assert compare_arrays(left, right).tolist() == expected
    for descending in (False, True):
        for nulls_last in (False, True):
            places = ranks(pa.array(values, data_type), descending, nulls_last)
            order = (SortKey(0, descending, nulls_last),)
            found = [int(np.sign(a - b)) for a in places for b in places]
            assert found == [by_list((x,), (y,), order) for x, y in pairs]


@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_exact_ranks_refine_ranks(data_type: pa.DataType) -> None:
    zeros = [0.0, -0.0] if pa.types.is_floating(data_type) else []
    values = [*VALUES[data_type], *zeros]
    array = pa.array(values, data_type)
    for descending in (False, True):
        exact, order = exact_ranks(array, descending), ranks(array, descending)
        for i, x in enumerate(values):
            for j, y in enumerate(values):
                if order[i] != order[j]:
                    assert (exact[i] < exact[j]) == (order[i] < order[j])
                else:
                    assert (exact[i] == exact[j]) == (identity(x) == identity(y))
