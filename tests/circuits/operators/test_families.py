"""Answers that operators give alike: what a family says for its members, and what it leaves to each."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.families import Changes, Keeper, Reader, RowWise, Unchanged, all_of, everything
from dbsp.circuits.operators.linear import Filter, Negate, Union
from dbsp.circuits.operators.operator import LINEAR
from dbsp.circuits.operators.streams import Integrate

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string())])
LINE = {0: (Column(3, pa.int64()),)}


@pytest.mark.parametrize("family", [Changes, RowWise, Unchanged, Keeper, Reader])
def test_no_family_answers_everything(family: type[Any]) -> None:
    with pytest.raises(TypeError, match=family.__name__):
        family()


def test_what_holds_nothing_but_its_inputs_is_held_by_all_of_them() -> None:
    one, two, both = ("a",), ("b", "a"), ("a", "b")
    assert all_of([one, two]) == both
    assert all_of([one, None]) is None
    assert all_of([]) is None


def test_what_takes_changes_alone() -> None:
    """It looks no row up, so it costs its delta, keeps no trace from being collected, and sleeps."""
    for operator in (Negate(), Filter(Column(0, pa.bool_())), Union(SCHEMA)):
        assert operator.cost == LINEAR and not operator.costs_more
        assert operator.reach(0, [LINE]) is None
        assert operator.wakeup(0, lambda: pytest.fail("asked"), []) is None
        assert operator.takes_bag(0)


def test_what_makes_rows_of_rows_retracts_what_one_of_its_inputs_does() -> None:
    union = Union(SCHEMA)
    assert [union.retracts([a, b]) for a in (False, True) for b in (False, True)] == [False, True, True, True]
    assert union.held([("a",), ("b",)]) == ("a", "b")
    assert union.held([("a",), None]) is None


def test_rows_that_stay_what_they_are() -> None:
    """Filtered, kept or negated, a row has its columns, its place and its bounds."""
    for operator in (Filter(Column(0, pa.bool_())), Integrate((1,))):
        assert operator.schema(SCHEMA) == SCHEMA
        assert operator.bounds([LINE], {}) == LINE
        assert [operator.origin(i, SCHEMA) for i in range(2)] == [(0, 0), (0, 1)]
    assert Filter(Column(0, pa.bool_())).placement((1,)) == (1,)


def test_whole_rows_are_read() -> None:
    assert everything(SCHEMA) == {0, 1} and everything(pa.schema([])) == set()
    for operator in (Integrate((0,)), Distinct()):
        assert operator.reads(0, {1}, SCHEMA) == {0, 1}
        assert operator.held([("a",)]) == ("a",)
        assert operator.held([None]) is None
