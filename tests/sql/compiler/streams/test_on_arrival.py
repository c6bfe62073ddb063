"""Which joins of a stream are looked up on arrival, and that columns stay in their order."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.compiler.streams.on_arrival import follows, on_arrival
from dbsp.sql.plans.nodes import ArrivalJoin, Distinct, Filter, Join, Project
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import T, U, column, positive

GROWS, CHANGES = {"t": True, "u": True}, {"t": True, "u": False}


def joined(left: Plan, right: Plan, kind: str = "inner", residual: Any = None) -> Join:
    keys = ((column(0),), (column(1),), (False,))
    return Join(left, right, kind, *keys, residual, join_schema(kind, left.schema, right.schema))


@pytest.mark.parametrize("kind", ["inner", "left", "semi", "anti"])
def test_a_stream_meets_a_table_that_changes_on_arrival(kind: str) -> None:
    found = on_arrival(Filter(joined(T, U, kind), positive(0)), {"t"}, CHANGES)
    assert isinstance(found, Filter)
    assert isinstance(found.input, ArrivalJoin)
    assert (found.input.kind, found.input.schema) == (kind, joined(T, U, kind).schema)
    verify(found)


def test_the_stream_may_be_on_the_right_of_an_inner_join() -> None:
    """residual: over the join's columns, which change sides."""
    plan = joined(U, T, residual=positive(2))
    found = on_arrival(plan, {"t"}, CHANGES)
    verify(found)
    assert isinstance(found, Project)
    assert found.schema == plan.schema
    assert [e.index for e in found.expressions if isinstance(e, Column)] == [4, 5, 6, 7, 0, 1, 2, 3]
    inner = found.input
    assert isinstance(inner, ArrivalJoin)
    assert (inner.left, inner.right, inner.residual) == (T, U, positive(6))
    assert (inner.left_keys, inner.right_keys) == (plan.right_keys, plan.left_keys)


@pytest.mark.parametrize(
    ("plan", "streams", "grows"),
    [
        (joined(T, U), {"t"}, GROWS),  # a table that only grows
        (joined(T, U), {"t", "u"}, GROWS),  # two streams
        (joined(T, Distinct(T)), {"t"}, GROWS),  # one with itself
        (joined(Distinct(U), U), {"t"}, CHANGES),  # no stream
        (joined(T, U, "full"), {"t"}, CHANGES),  # rows of the table come out, too
        (joined(U, T, "left"), {"t"}, CHANGES),
        (joined(U, T, "anti"), {"t"}, CHANGES),
    ],
)
def test_other_joins_stay(plan: Join, streams: set[str], grows: dict[str, bool]) -> None:
    assert on_arrival(plan, streams, grows) == plan


def test_what_is_no_stream_may_be_read_as_it_is() -> None:
    """Though it only grows, as a streaming table reads it."""
    assert isinstance(on_arrival(joined(T, U), {"t"}, GROWS, as_it_is=True), ArrivalJoin)
    two = joined(T, U)
    assert on_arrival(two, {"t", "u"}, GROWS, as_it_is=True) == two


@pytest.mark.parametrize(
    ("plan", "streams", "later"),
    [
        (joined(T, U), {"t"}, None),
        (Filter(joined(T, U), positive(0)), {"t", "u"}, None),
        (joined(T, T), {"t"}, None),
        (Distinct(joined(T, U, "full")), {"t"}, "u"),
        (joined(Distinct(U), T, "left"), {"t"}, "u"),
    ],
)
def test_what_rows_meet_later_than_when_they_come(plan: Plan, streams: set[str], later: str | None) -> None:
    assert follows(on_arrival(plan, streams, GROWS, as_it_is=True), streams) == later
