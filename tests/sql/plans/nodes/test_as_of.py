"""AsOf: each left row once, beside its nearest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.plans.nodes import AsOf, Distinct
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import BOOL, T, U, column, random_bags, rows_of

NEAREST = AsOf(
    T, U, "left", (column(0),), (column(0),), (False,), column(1), column(2), "less_than",
    join_schema("left", T.schema, U.schema),
)  # fmt: skip


def test_left_rows_are_told_apart_as_before() -> None:
    assert NEAREST.stream_key({"t": (0, 3), "u": (1,)}) == (0, 3)
    assert NEAREST.stream_key({"t": None, "u": (1,)}) is None
    bags = random_bags(1)
    assert rows_of(NEAREST, bags).total() == len(bags["t"])


def test_a_nearer_row_replaces_the_nearest() -> None:
    assert not NEAREST.append_only({"t": True, "u": True})
    assert NEAREST.obstacle({"u"}) == "ASOF JOIN"
    assert NEAREST.monotonic({"t": {1: (column(1),)}}) == {}


def test_keys_and_times_are_needed() -> None:
    narrower, position = NEAREST.pruned({7})
    verify(narrower)
    assert [field.name for field in narrower.inputs[0].schema] == ["a", "b"]
    assert [field.name for field in narrower.inputs[1].schema] == ["a", "c", "d"]
    assert position[7] == 4


def test_over_other_inputs_its_schema_follows() -> None:
    inner = replace(NEAREST, kind="inner", schema=join_schema("inner", T.schema, U.schema))
    assert inner.over(Distinct(T), Distinct(U)).schema == inner.schema
    assert all(field.nullable for field in NEAREST.schema[4:])


def test_its_spelling_says_whose_columns_they_are() -> None:
    assert NEAREST.spelled == "left join with the nearest of left.b < right.c on left.a = right.a"
    alone = replace(NEAREST, left_keys=(), right_keys=(), null_safe=(), kind="inner")
    assert alone.spelled == "inner join with the nearest of left.b < right.c"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (replace(NEAREST, left_time=Column(1, BOOL)), "AsOf: types of times differ"),
        (replace(NEAREST, right_time=column(4)), "AsOf: no column #4 of 4"),
        (replace(NEAREST, kind="full"), "AsOf: no kind of join: full"),
        (replace(NEAREST, null_safe=()), "AsOf: keys come in pairs"),
        (replace(NEAREST, schema=T.schema), "AsOf: schema .* instead of"),
    ],
)
def test_broken_ones_are_refused(broken: AsOf, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        broken.verify()
