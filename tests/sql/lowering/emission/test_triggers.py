"""TRIGGER: which agendas and thresholds a trigger has, and when it would never fire."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.emission.timers import After, At, Timers
from dbsp.circuits.operators.inputs.thresholds import Threshold
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.lowering.emission.triggers import lower_triggers
from dbsp.sql.plans.program import Triggers
from tests.sql.hand_made import INT
from tests.sql.lowering.emission.timed import BIDS, MINUTE, TIME, by_hour, keyed_of

HERE = "p.sql:3:7"


def test_counting_needs_no_agenda() -> None:
    keyed = keyed_of(by_hour())
    trigger, limits = lower_triggers(keyed, Triggers(5, None, False, HERE), None)
    assert (trigger.key, trigger.agendas, trigger.counting, trigger.delay, trigger.passed) == (
        (0, 1),
        0,
        5,
        None,
        (),
    )
    assert (limits, keyed.agendas) == ((), [])


def test_a_delay_is_on_the_clock() -> None:
    keyed = keyed_of(by_hour())
    trigger, limits = lower_triggers(keyed, Triggers(None, 2 * MINUTE, False, HERE), None)
    (agenda,) = keyed.agendas
    clock = Threshold((CLOCK,), (Column(0, CLOCK.type),), at_once=True)
    builder = keyed.lowering.builder
    assert builder.nodes[agenda].operator == Timers((0, 1), After(2 * MINUTE), clock)
    assert CLOCK in builder.lateness
    assert (trigger.agendas, limits) == (1, ())


def test_on_watermark_follows_the_bounded_column_of_the_key() -> None:
    keyed = keyed_of(by_hour())
    trigger, limits = lower_triggers(keyed, Triggers(None, None, True, HERE), None)
    (passed,) = trigger.passed
    hour = Column(0, TIME)
    assert passed.value == hour
    assert [one.name for one in passed.threshold.lateness] == ["bid.made"]
    (agenda,) = keyed.agendas
    timers = keyed.lowering.builder.nodes[agenda].operator
    assert isinstance(timers, Timers)
    assert timers.instants == At(hour)
    (limit,) = limits
    assert limit.expression == hour


def test_a_stream_in_order_waits_for_what_it_is_ordered_by() -> None:
    keyed = keyed_of(by_hour())
    trigger, _ = lower_triggers(keyed, Triggers(None, None, True, HERE, once=True), Column(0, TIME))
    assert [passed.value for passed in trigger.passed] == [Column(0, TIME)]
    with pytest.raises(ProgramError, match="no row of the stream 'v' is ever final"):
        lower_triggers(keyed, Triggers(None, None, True, HERE, once=True), Column(1, INT))


def test_what_no_waterline_bounds_never_fires() -> None:
    timeless = replace(BIDS, lateness=())
    with pytest.raises(ProgramError) as raised:
        lower_triggers(keyed_of(by_hour(), timeless), Triggers(3, None, True, HERE), None)
    assert str(raised.value) == (
        "p.sql:3:7: ON WATERMARK never fires for view 'v': no waterline bounds a column of its stream key "
        "(hour, k); give the time it is grouped by a LATENESS, and select that group (window, window.end or "
        "a truncated time), or use COUNTING or AFTER DELAY"
    )
    with pytest.raises(ProgramError, match=r"or leave STREAM out$"):
        lower_triggers(keyed_of(by_hour(), timeless), Triggers(None, None, True, HERE, once=True), None)
