"""Combine: a delta's groups as rows of sums, which add up to those of the sum of deltas."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.exact_sums import join_doubles
from dbsp.circuits.operators.groups.aggregates.sums import Doubles
from dbsp.circuits.operators.groups.combine import Combine, CombineParts
from dbsp.circuits.operators.groups.state.accumulators import Greatest, Least, NarrowSum, Values
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.zset import ZSet
from tests.generators.columns.zsets import zset_of
from tests.laws.operators_laws import hash_seeds

SCHEMA = pa.schema([("k", pa.int32()), ("x", pa.int32())])
DOUBLES = pa.schema([("k", pa.int32()), ("d", pa.float64())])
small = st.one_of(st.none(), st.integers(-3, 3))
Listing = list[tuple[tuple[Any, Any], int]]


def listings(values: st.SearchStrategy[Any], least: int = -2) -> st.SearchStrategy[Listing]:
    row = st.tuples(st.one_of(st.none(), st.integers(0, 2)), values)
    return st.lists(st.tuples(row, st.integers(least, 2)), max_size=8)


def context(seed: int) -> Context:
    return Context(seed, 1, None, True)


def rows_of(zset: ZSet) -> list[tuple[Any, ...]]:
    return list(zip(*(c.to_pylist() for c in zset.rows.columns), zset.weights.tolist(), strict=True))


@given(listings(small), hash_seeds)
def test_a_row_a_group(listing: Listing, seed: int) -> None:
    found = Combine(1, (Values(1), NarrowSum(1))).step(context(seed), zset_of(SCHEMA, listing))
    expected = [
        (
            key,
            sum(w for (k, x), w in listing if k == key and x is not None),
            sum(x * w for (k, x), w in listing if k == key and x is not None),
            sum(w for (k, _), w in listing if k == key),
        )
        for key in {k for (k, _), _ in listing}
    ]
    assert Counter(rows_of(found)) == Counter(expected)


@given(listings(small, least=1), hash_seeds)
def test_extremes_of_what_is_inserted(listing: Listing, seed: int) -> None:
    found = Combine(1, (Least(1), Greatest(1))).step(context(seed), zset_of(SCHEMA, listing))
    for key, least, greatest, _ in rows_of(found):
        values = [x for (k, x), _ in listing if k == key and x is not None]
        assert least == min(values, default=Least.zero) and greatest == max(values, default=Greatest.zero)


@given(listings(small), listings(small))
def test_it_is_linear(one: Listing, two: Listing) -> None:
    combine = Combine(1, (Values(1), NarrowSum(1)))
    totals: dict[Any, np.ndarray] = {}
    for part in (one, two):
        for key, *sums in rows_of(combine.step(context(0), zset_of(SCHEMA, part))):
            totals[key] = totals.get(key, np.zeros(3, np.int64)) + np.array(sums)
    whole = rows_of(combine.step(context(0), zset_of(SCHEMA, one + two)))
    assert {key: sums for key, *sums in whole} == {key: total.tolist() for key, total in totals.items()}


@given(listings(st.sampled_from([None, 0.1, -0.0, 1e16, -1e16, 5e-324])), hash_seeds)
def test_parts_add_up_to_the_values(listing: Listing, seed: int) -> None:
    """A part a group and digit, each once; their sum is that of the group's values, each so often."""
    found = CombineParts(1, Doubles()).step(context(seed), zset_of(DOUBLES, listing))
    parts = rows_of(found)
    assert len({(key, index) for key, index, _, _ in parts}) == len(parts)
    for group in {k for (k, _), _ in listing}:
        mine = [(index, amount) for key, index, amount, _ in parts if key == group]
        index, amount = (np.array([part[i] for part in mine], dtype=np.int64) for i in (0, 1))
        values = [x for (k, x), w in listing if k == group and x is not None for _ in range(abs(w))]
        signs = [w for (k, x), w in listing if k == group and x is not None for _ in range(abs(w))]
        one, other = (
            [x for x, w in zip(values, signs, strict=True) if (w > 0) == side] for side in (True, False)
        )
        exact = np.array([*one, *(-x for x in other)])
        row, (place,), digit = Doubles().split([pa.array(exact, pa.float64())])
        expected = join_doubles(np.zeros_like(row), place, digit, 1)
        assert join_doubles(np.zeros_like(index), index, amount, 1).tolist() == expected.tolist()
