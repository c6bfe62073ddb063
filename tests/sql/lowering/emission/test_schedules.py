"""EMIT: the timetable of a window's key, and the event time that its instants are on."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.operators.emission.timers import Timers, Timetable
from dbsp.circuits.operators.inputs.thresholds import Proved
from dbsp.circuits.operators.streams import Broadcast
from dbsp.sql.lowering.emission.schedules import lower_schedule
from dbsp.sql.plans.nodes import Aggregate, Project
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Schedule
from dbsp.sql.plans.schemas import Field, Windows
from tests.sql.hand_made import INT
from tests.sql.lowering.emission.timed import BID, BIDS, COUNT, HOUR, MINUTE, TIME, by_hour, keyed_of

ENDS = Windows("end", HOUR)
GIVEN = Schedule(-5 * MINUTE, 0, 2 * MINUTE, MINUTE, None, True, False, "p.sql:2:9")


def test_instants_are_on_the_clock_of_the_largest_event_time() -> None:
    keyed = keyed_of(by_hour(ENDS))
    trigger, _ = lower_schedule(keyed, GIVEN)
    builder = keyed.lowering.builder
    (agenda,) = keyed.agendas
    timers = builder.nodes[agenda].operator
    assert isinstance(timers, Timers)
    assert timers.instants == Timetable(Column(0, TIME), -5 * MINUTE, MINUTE, 0, 2 * MINUTE)
    assert timers.again
    (largest,) = timers.threshold.lateness
    assert (largest.name, largest.amount, largest.column) == ("bid.made (largest)", 0, 0)
    (proof,) = keyed.proofs
    assert isinstance(builder.nodes[proof].operator, Broadcast)
    (proved,) = builder.nodes[proof].inputs
    assert isinstance(builder.nodes[proved].operator, Proved)
    schedule = trigger.schedule
    assert schedule is not None
    assert (schedule.table, schedule.rows, schedule.late, schedule.flagged) == (
        timers.instants,
        None,
        True,
        False,
    )


@pytest.mark.parametrize(("last", "limited"), [(MINUTE, True), (HOUR, True), (MINUTE - 1, False)])
def test_nothing_follows_the_last_result_where_all_that_is_later_is_late(last: int, limited: bool) -> None:
    """Late for the waterline, which is a minute behind."""
    keyed = keyed_of(by_hour(ENDS))
    _, limits = lower_schedule(keyed, replace(GIVEN, last=last))
    assert [limit.expression for limit in limits] == [Column(0, TIME)] * limited


def test_without_a_waterline_something_may_always_follow() -> None:
    _, limits = lower_schedule(keyed_of(by_hour(ENDS), replace(BIDS, lateness=())), GIVEN)
    assert limits == ()


def grouped(made: Call) -> Plan:
    of_text = Project(BID, (made,), (Field("end", TIME),))
    fields = (Field("end", TIME, window=ENDS), Field("n", INT, False))
    return Aggregate(of_text, (Column(0, TIME),), (COUNT,), fields)


def test_a_window_of_no_column_of_a_table() -> None:
    of_text = Call("cast", (Column(2, pa.string()),), TIME)
    of_two = Call("greatest", (Column(0, TIME), Call("cast", (Column(2, pa.string()),), TIME)), TIME)
    for made in (of_text, of_two):
        with pytest.raises(ProgramError) as raised:
            lower_schedule(keyed_of(grouped(made)), GIVEN)
        assert str(raised.value) == (
            "p.sql:2:9: EMIT needs an event time for view 'v': a TIMESTAMP column of one table that the "
            "window is made of"
        )
