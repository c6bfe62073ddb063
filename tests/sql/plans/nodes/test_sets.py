"""Distinct, Union and SetOperation: relations by whole rows."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.sql.plans.nodes import Distinct, SetOperation, Union
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Key
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import T, U, column, project

KINDS = ("intersect", "except", "intersect all", "except all")
BOTH = Union((T, U), T.schema)


def sets(kind: str) -> SetOperation:
    return SetOperation(T, U, kind, T.schema)


@pytest.mark.parametrize(
    ("plan", "left", "right", "expected"),
    [
        (Distinct(T), (2,), None, (2,)),
        (Distinct(T), None, None, (0, 1, 2, 3)),
        (Distinct(T), (), None, ()),
        (BOTH, (2,), (2,), None),
        (sets("intersect"), None, (1,), (1,)),
        (sets("intersect all"), None, (1,), (1,)),
        (sets("except all"), None, (1,), None),
        (sets("except all"), (3,), (1,), (3,)),
        (sets("except"), None, (1,), (0, 1, 2, 3)),
    ],
)
def test_what_tells_rows_apart(plan: Plan, left: Key, right: Key, expected: Key) -> None:
    assert plan.stream_key({"t": left, "u": right}) == expected


def test_what_only_grows() -> None:
    growing = {"t": True, "u": True}
    assert [sets(kind).append_only(growing) for kind in KINDS] == [True, False, True, False]
    assert BOTH.append_only(growing) and Distinct(T).append_only(growing)
    for plan in (BOTH, sets("intersect")):
        assert not plan.append_only({"t": True, "u": False})
    assert (BOTH.obstacle({"t"}), Distinct(T).obstacle({"t"}), sets("except").obstacle({"t"})) == (
        None,
        None,
        "SetOperation",
    )


def test_whole_rows_are_needed_but_of_a_union() -> None:
    for plan in (Distinct(T), *map(sets, KINDS)):
        narrower, position = plan.pruned({1})
        assert (narrower, position) == (plan, {i: i for i in range(4)})
    narrower, position = BOTH.pruned({1})
    verify(narrower)
    assert (len(narrower.schema), position) == (1, {1: 0})


def test_what_never_decreases_does_so_on_both_sides() -> None:
    late = {"t": {1: (column(1),), 2: (column(2),)}, "u": {1: (column(1),)}}
    assert {*BOTH.monotonic(late)} == {1}
    assert {*Distinct(T).monotonic(late)} == {1, 2}
    assert sets("intersect").monotonic(late) == {}


def test_columns_are_named_after_the_first() -> None:
    renamed = project(U, *map(column, range(4)), names="wxyz")
    for plan in (Union((renamed, T), T.schema), SetOperation(renamed, T, "except", T.schema)):
        assert [field.name for field in plan.named().schema] == list("wxyz")


def test_both_sides_have_its_types() -> None:
    other = (Field("s", pa.string()), *T.schema[1:])
    for plan in (BOTH, sets("except")):
        with pytest.raises(AssertionError, match=f"{type(plan).__name__}: types"):
            replace(plan, schema=other).verify()


def test_what_is_never_null() -> None:
    known = {"t": {1, 2}, "u": {2, 3}}
    assert [sets(kind).asked_for(known) for kind in KINDS] == [{1, 2, 3}, {1, 2}, {1, 2, 3}, {1, 2}]
    assert BOTH.asked_for(known) == {2}
