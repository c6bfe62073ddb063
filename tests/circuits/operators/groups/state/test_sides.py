"""The sides of a step: what a brute-force sum over a group's rows gives, before the step and after it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.combine import Combine
from dbsp.circuits.operators.groups.state.accumulators import Accumulator, NarrowSum, Values
from dbsp.circuits.operators.groups.state.sides import Groups, Sides
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from tests.generators.columns.zsets import zset_of
from tests.laws.operators_laws import hash_seeds

Listing = list[tuple[tuple[Any, Any, Any], int]]
SCHEMA = pa.schema([("k", pa.int32()), ("l", pa.string()), ("x", pa.int32())])
ACCUMULATORS: tuple[Accumulator, ...] = (Values(2), NarrowSum(2))
key = st.tuples(st.one_of(st.none(), st.integers(0, 1)), st.sampled_from(["a", "b", None]))
listings = st.lists(
    st.tuples(
        st.tuples(key, st.one_of(st.none(), st.integers(-3, 3))).map(lambda row: (*row[0], row[1])),
        st.integers(-2, 2),
    ),
    max_size=8,
)


@st.composite
def cases(draw: st.DrawFn) -> Any:
    """(keys, placement, seed, the parts of the trace, the delta)"""
    keys = draw(st.integers(0, 2))
    placement = tuple(range(draw(st.integers(min(keys, 1), keys))))
    return keys, placement, draw(hash_seeds), draw(st.lists(listings, max_size=3)), draw(listings)


def integral_of(layout: Layout, seed: int, parts: list[Any], delta: Any) -> Integral:
    before = as_runs(*(Batch.build(layout, part, seed) for part in parts))
    return Integral(layout, before, Batch.build(layout, delta, seed))


def groups_of(keys: int, listings: list[Listing], seed: int) -> tuple[list[Any], Groups]:
    names = sorted({row[:keys] for listing in listings for row, _ in listing}, key=repr) if keys else [()]
    columns = [pa.array([name[i] for name in names], SCHEMA.field(i).type) for i in range(keys)]
    return names, Groups(columns, len(names), seed)


@given(cases(), st.booleans())
def test_totals_are_those_of_the_rows(case: Any, of_the_delta: bool) -> None:
    """of_the_delta: the groups are those that the delta has rows of, in its order."""
    keys, placement, seed, parts, delta = case
    combine = Combine(keys, ACCUMULATORS)
    context = Context(seed, 1, None, True)
    combined = [combine.step(context, zset_of(SCHEMA, listing)) for listing in (*parts, delta)]
    layout = Layout(combine.schema(SCHEMA), placement, sums=(keys, keys + 1))
    integral = integral_of(layout, seed, combined[:-1], combined[-1])
    names, groups = groups_of(keys, [*parts, delta], seed)
    if of_the_delta:
        changed = integral.delta
        columns = changed.rows.columns[:keys]
        names = (
            [*zip(*(column.to_pylist() for column in columns), strict=True)] if keys else [()] * len(changed)
        )
        groups = Groups(columns, len(changed), seed, changed)
    totals = Sides(groups, (ACCUMULATORS,), [integral]).totals(0)
    held = [change for part in parts for change in part]
    for first, rows in ((0, held), (len(names), held + delta)):
        for i, name in enumerate(names, first):
            mine = [(row[2], weight) for row, weight in rows if row[:keys] == name]
            known = [(x, weight) for x, weight in mine if x is not None]
            assert totals.weights[i] == sum(weight for _, weight in mine)
            assert totals.sums[Values(2)][i] == sum(weight for _, weight in known)
            assert totals.sums[NarrowSum(2)][i] == sum(x * weight for x, weight in known)


@given(cases())
def test_members_are_the_rows(case: Any) -> None:
    keys, placement, seed, parts, delta = case
    layout = Layout(SCHEMA, placement)
    zsets = [zset_of(SCHEMA, listing) for listing in (*parts, delta)]
    integral = integral_of(layout, seed, zsets[:-1], zsets[-1])
    names, groups = groups_of(keys, [*parts, delta], seed)
    members = Sides(groups, (), [integral]).members(0)
    columns = [column.to_pylist() for column in members.columns]
    listed = [*zip(members.owner.tolist(), members.weights.tolist(), *columns, strict=True)]
    held = [change for part in parts for change in part]
    for after, rows in ((False, held), (True, held + delta)):
        found: Counter[Any] = Counter()
        for place, weight, *row in listed:
            if (place >= len(names)) == after:
                found[(*names[place % len(names)], *row)] += weight
        expected: Counter[Any] = Counter()
        for row, weight in rows:
            expected[row] += weight
        assert {k: w for k, w in found.items() if w} == {k: w for k, w in expected.items() if w}


def test_only_the_asked_groups_are_read() -> None:
    """Of a trace of a thousand groups, the rows of one."""
    schema = pa.schema([("k", pa.int64()), ("x", pa.int64())])
    rows = zset_of(schema, [((i % 1000, i), 1) for i in range(5000)])
    integral = integral_of(Layout(schema, (0,)), 0, [rows], zset_of(schema, []))
    members = Sides(Groups([pa.array([7], pa.int64())], 1, 0), (), [integral]).members(0)
    assert sorted(members.columns[0].to_pylist()) == sorted([7, 1007, 2007, 3007, 4007] * 2)
    assert sorted(members.owner) == [0] * 5 + [1] * 5 and np.array_equal(members.weights, np.ones(10))
