"""When the clock changes rows: what is known of a reading, and values that move with their columns."""

from __future__ import annotations

from dbsp.circuits.expressions.nodes import Column, remap
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.plans.clock.changes import Changes, Crossing
from tests.sql.hand_made import call, column

READING = Column(0, CLOCK.type, False)
LOCAL = call("local_time", READING, type_=CLOCK.type)


def test_a_reading_that_never_decreases_doesnt_turn() -> None:
    assert not Crossing(column(0), READING, True, READING).turns
    assert Crossing(column(0), LOCAL, True, READING).turns
    assert Crossing(column(0), LOCAL, True, None).turns


def test_values_move_with_their_columns_and_readings_stay() -> None:
    there = Crossing(column(0), LOCAL, True, READING)
    ahead = Crossing(call("add", column(0), column(1)), READING, False, READING)
    changes = Changes((there,), (READING,), (ahead,), restless=True)
    moved = changes.with_values(lambda e: remap(e, {0: 3, 1: 5}))
    assert moved.crossings == (Crossing(column(3), LOCAL, True, READING),)
    assert moved.ahead == (Crossing(call("add", column(3), column(5)), READING, False, READING),)
    assert (moved.readings, moved.restless) == ((READING,), True)
