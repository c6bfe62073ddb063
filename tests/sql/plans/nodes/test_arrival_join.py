"""ArrivalJoin: a row of the left meets the right once, and never again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.sql.plans.nodes import ArrivalJoin, Distinct
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import T, U, call, column, literal, positive


def joined(kind: str) -> ArrivalJoin:
    keys = ((column(0),), (column(1),), (False,))
    return ArrivalJoin(T, U, kind, *keys, positive(5), join_schema(kind, T.schema, U.schema))


@pytest.mark.parametrize("kind", ["inner", "left", "semi", "anti"])
def test_it_is_legal_over_any_inputs_and_read_whole(kind: str) -> None:
    verify(joined(kind))
    verify(joined(kind).over(Distinct(T), Distinct(U)))
    plan, position = joined(kind).pruned({0})
    assert plan == joined(kind)
    assert position == {i: i for i in range(len(plan.schema))}


@pytest.mark.parametrize("kind", ["inner", "left", "semi", "anti"])
def test_the_right_takes_no_row_back(kind: str) -> None:
    """Even the rows of an anti-join stay when the right grows."""
    assert joined(kind).append_only({"t": True, "u": False})
    assert not joined(kind).append_only({"t": False, "u": True})


def test_rows_are_told_apart_by_the_left_where_it_meets_one_at_most() -> None:
    assert joined("inner").stream_key({"t": (0,), "u": (1,)}) == (0,)
    assert joined("inner").stream_key({"t": (0,), "u": (0, 1)}) is None
    assert joined("semi").stream_key({"t": (0,), "u": None}) == (0,)


def test_waterlines_are_those_of_the_left() -> None:
    assert joined("inner").monotonic({"t": {1: (column(1),)}, "u": {0: (column(0),)}}) == {1: (column(1),)}
    assert joined("left").asked_for({"t": {2}, "u": {3}}) == {2}


def test_its_spelling_says_when() -> None:
    plan = replace(joined("inner"), residual=call("greater_than", column(1), column(6)))
    assert plan.spelled.startswith("inner join on arrival on left.a = right.b AND ")
    alone = replace(joined("anti"), left_keys=(), right_keys=(), null_safe=(), residual=None)
    assert alone.spelled == "anti join on arrival of every pair"


def test_a_change_of_expressions_reaches_keys_and_condition() -> None:
    changed = joined("inner").with_expressions(lambda e: literal(1) if e == column(0) else e)
    assert changed.left_keys == (literal(1),)
    assert changed.with_expressions(lambda e: e) == changed


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (replace(joined("inner"), kind="full"), "ArrivalJoin: no kind of join: full"),
        (replace(joined("inner"), null_safe=()), "ArrivalJoin: keys come in pairs"),
        (replace(joined("inner"), residual=positive(8)), "ArrivalJoin: no column #8 of 8"),
        (replace(joined("semi"), schema=U.schema[:2]), "ArrivalJoin: schema .* instead of"),
    ],
)
def test_broken_ones_are_refused(broken: ArrivalJoin, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        broken.verify()
