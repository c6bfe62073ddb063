"""How far functions over windows look beyond their row: the first rows and those are enough for them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Column, Literal
from dbsp.circuits.operators.groups.windows.calls import Frame
from dbsp.sql.plans.calls import SortOrder, WindowCall
from dbsp.sql.plans.nodes import Filter, Window
from dbsp.sql.plans.schemas import Field
from dbsp.sql.rules.beyond import RANKINGS, Beyond, beyond, furthest_of
from dbsp.sql.rules.top_k import top_k
from tests.sql.hand_made import BOOL, INT, T, call, column, literal, random_bags, rows_of

SMALL = pa.int32()
BY = (SortOrder(column(1)),)
BACK = (SortOrder(column(1), descending=True, nulls_last=True),)


def function(name: str, order: tuple[SortOrder, ...] = BY, **more: Any) -> WindowCall:
    if name in RANKINGS:
        return WindowCall(name, (), SMALL, False, order)
    arguments = (column(2), literal(None)) if name == "lead" else (column(2),)
    return WindowCall(name, arguments, INT, True, order, **more)


@pytest.mark.parametrize(
    ("looked_at", "found"),
    [
        (function("rank"), Beyond(0, False)),
        (function("rank", BACK), None),
        (function("lead", number=2), Beyond(2, False)),
        (function("lead", number=-2), Beyond(0, False)),
        (function("lead", BACK, number=-2), Beyond(2, True)),
        (function("lead", BACK, number=2), Beyond(0, True)),
        (function("lead", number=-2, ignore_nulls=True), Beyond(0, False)),
        (function("lead", number=2, ignore_nulls=True), None),
        (function("count", frame=Frame(True, None, 0)), Beyond(0, False)),
        (function("count", frame=Frame(True, None, 3)), Beyond(3, False)),
        (function("count", frame=Frame(True, -3, -1)), Beyond(0, False)),
        (function("count", frame=Frame(False, None, 0)), Beyond(0, True)),
        (function("count", BACK, frame=Frame(True, -3, None)), Beyond(3, True)),
        (function("count", BACK, frame=Frame(True, None, 0)), None),
        (function("count", frame=Frame(False, None, literal(1))), None),
        (function("count"), None),
        (function("cume_dist"), None),
        (function("count", (SortOrder(column(3)),), frame=Frame(True, None, 0)), None),
    ],
)
def test_how_far(looked_at: WindowCall, found: Beyond | None) -> None:
    assert beyond(looked_at, BY) == found


def test_what_fails_for_a_row_further_away_fails() -> None:
    running = Frame(True, None, 0)
    quotient = call("divide", column(1), column(2))
    assert beyond(WindowCall("max", (quotient,), INT, True, BY, running), BY) is None
    assert beyond(WindowCall("sum", (column(1),), INT, True, BY, running), BY) is None  # beyond 64 bits
    assert beyond(WindowCall("sum", (column(1),), INT, True, BY, running, lenient=True), BY) is not None
    assert furthest_of([function("rank"), function("count")], BY) is None


ORDERS = st.sampled_from([BY, BACK])
LEADS = st.builds(lambda order, number: function("lead", order, number=number), ORDERS, st.integers(-2, 2))
EDGES = st.integers(-2, 2)
FRAMES = st.one_of(
    st.builds(lambda two: Frame(True, min(two), max(two)), st.tuples(EDGES, EDGES)),
    st.sampled_from([Frame(True, None, 0), Frame(True, 0, None), Frame(False, None, 0), Frame(False, 0, 0)]),
)
SEEING = st.builds(
    lambda name, order, frame: function(name, order, frame=frame),
    st.sampled_from(["count", "max", "first", "last"]),
    ORDERS,
    FRAMES,
)


@given(
    st.sampled_from(RANKINGS),
    st.integers(1, 3),
    st.lists(st.one_of(LEADS, SEEING), min_size=1, max_size=2),
    st.integers(0, 1000),
)
def test_the_first_rows_and_those_beyond_are_enough(
    ranking: str, size: int, others: list[WindowCall], seed: int
) -> None:
    """Also where rows tie: which of them comes first is the same before the rule and after."""
    calls = (function(ranking), *others)
    fields = tuple(Field(f"r{i}", one.type, one.nullable) for i, one in enumerate(calls))
    window = Window(T, (column(0),), calls, (*T.schema, *fields))
    condition = call("less_than_or_equal", Column(4, SMALL, False), Literal(size, SMALL), type_=BOOL)
    before = Filter(window, condition)
    after = top_k(before)
    assert (after != before) == (furthest_of(calls, BY) is not None)
    bags = random_bags(seed)
    assert rows_of(after, bags) == rows_of(before, bags)
