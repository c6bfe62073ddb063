"""Levels: all levels of WITH RECURSIVE together."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.sql.plans.nodes import Distinct, Filter, Join, Levels, Scan
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from tests.sql.hand_made import T, U, call, column, positive, project, rows_of

BEFORE = Scan(LEVEL, T.schema)
ONE_LESS = project(BEFORE, call("subtract", column(0), column(1)), *map(column, (1, 2, 3)), names="abcd")
COUNTDOWN = Levels(T, Filter(ONE_LESS, positive(0)), 9, T.schema)


def with_term(term: Plan) -> Levels:
    return Levels(T, term, 9, T.schema)


def test_rows_of_all_levels() -> None:
    assert rows_of(COUNTDOWN, {"t": [(3, 1, 0, 0)]}) == {(n, 1, 0, 0): 1 for n in (3, 2, 1)}


def test_the_level_before_is_nobody_elses() -> None:
    joined = Join(BEFORE, U, "semi", (column(0),), (column(0),), (False,), None, T.schema)
    assert with_term(joined).scanned() == {"t", "u"}
    assert COUNTDOWN.inputs == (T, COUNTDOWN.term)
    assert COUNTDOWN.over(U, ONE_LESS) == Levels(U, ONE_LESS, 9, T.schema)


def test_it_grows_if_a_growing_level_makes_a_growing_one() -> None:
    assert COUNTDOWN.append_only({"t": True})
    assert not COUNTDOWN.append_only({"t": False})
    taking = Join(BEFORE, U, "anti", (column(0),), (column(0),), (False,), None, T.schema)
    assert not with_term(taking).append_only({"t": True, "u": True})


def test_the_same_row_may_be_of_several_levels() -> None:
    assert COUNTDOWN.stream_key({"t": (0,)}) is None
    assert COUNTDOWN.obstacle({"t"}) == "WITH RECURSIVE"


def test_all_columns_are_needed() -> None:
    narrower, position = Levels(Distinct(T), ONE_LESS, 9, T.schema).pruned({2})
    assert len(narrower.schema) == 4
    assert position[2] == 2


def test_both_terms_have_its_columns() -> None:
    COUNTDOWN.verify()
    with pytest.raises(AssertionError, match="Levels: types"):
        replace(COUNTDOWN, schema=(Field("s", pa.string()), *T.schema[1:])).verify()
    assert COUNTDOWN.spelled == "all of at most 9 levels: the first, and then each from the one before"
