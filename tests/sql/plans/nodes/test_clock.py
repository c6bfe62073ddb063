"""TemporalFilter and TimedProjection: what the clock changes of what they read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.plans.clock.changes import Changes, Crossing, TimeBound
from dbsp.sql.plans.clock.readings import NOW
from dbsp.sql.plans.nodes import Scan, TemporalFilter, TimedProjection
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import BOOL, INT, call, column

TIME = CLOCK.type
S = Scan("s", (Field("k", INT), Field("starts", TIME), Field("ends", TIME)))
STARTS, ENDS, READING = Column(1, TIME), Column(2, TIME), Column(0, TIME, False)
ENTERS, LEAVES = TimeBound(STARTS, READING, False, True), TimeBound(ENDS, READING, True, True)
BOTH = TemporalFilter(S, (ENTERS, LEAVES))
LATER = call("greater_than", STARTS, NOW, type_=BOOL)
PHASES = TimedProjection(
    S, Changes((Crossing(STARTS, READING, True, READING),), (), (), False), (LATER,), None,
    (*S.schema, Field("later", BOOL)),
)  # fmt: skip
KEYS = {"s": (0,)}


def test_rows_that_only_come_into_view_stay() -> None:
    entering = TemporalFilter(S, (ENTERS,))
    assert entering.append_only({"s": True})
    assert not entering.append_only({"s": False})
    assert not BOTH.append_only({"s": True})
    assert not PHASES.append_only({"s": True})
    assert [plan.forgets(set()) for plan in (entering, BOTH, PHASES)] == [False, True, True]


def test_they_are_told_apart_as_before() -> None:
    for plan in (BOTH, PHASES):
        assert plan.stream_key(KEYS) == (0,)
        assert plan.obstacle({"s"}) == "a condition on the clock"


def test_what_is_compared_with_the_clock_isnt_null() -> None:
    assert BOTH.asked_for({}) == {1, 2}
    assert PHASES.asked_for({"s": {0}}) == {0}


def test_the_times_are_needed() -> None:
    narrower, position = BOTH.pruned({0})
    verify(narrower)
    assert position == {0: 0, 1: 1, 2: 2}
    narrower, position = PHASES.pruned({3})
    verify(narrower)
    assert [field.name for field in narrower.inputs[0].schema] == ["starts"]
    assert narrower.schema[position[3]].name == "later"


@pytest.mark.parametrize(
    ("bound", "spelled"),
    [
        (LEAVES, "ends > now()"),
        (replace(LEAVES, at_once=False), "ends >= now()"),
        (ENTERS, "starts <= now()"),
        (replace(ENTERS, at_once=False), "starts < now()"),
    ],
)
def test_a_bound_is_spelled_as_its_comparison(bound: TimeBound, spelled: str) -> None:
    assert TemporalFilter(S, (bound,)).spelled == f"filter {spelled}"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (TemporalFilter(S, ()), "TemporalFilter: a value is compared with a reading of its type"),
        (TemporalFilter(S, (replace(LEAVES, value=column(0)),)), "TemporalFilter: a value is compared"),
        (TemporalFilter(S, (replace(LEAVES, clock=Column(1, TIME)),)), "TemporalFilter: no column #1 of 1"),
        (
            replace(PHASES, expressions=(call("greater_than", Column(7, TIME), NOW, type_=BOOL),)),
            "TimedProjection: no",
        ),
        (replace(PHASES, schema=S.schema), "TimedProjection: types"),
    ],
)
def test_broken_ones_are_refused(broken: TemporalFilter | TimedProjection, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        broken.verify()
