"""The end of a key's window: a column that is one, or a start and the width."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.lowering.emission.window_ends import window_end
from dbsp.sql.plans.schemas import Windows
from dbsp.sql.plans.shown.spelling import spell
from tests.sql.lowering.emission.timed import HOUR, TIME, by_hour, keyed_of


def test_an_end_is_taken_as_it_is() -> None:
    found = window_end(keyed_of(by_hour(Windows("end", None))), "p.sql:1:1")
    assert (found.over_key, found.window) == (Column(0, TIME), Windows("end", None))


def test_a_start_is_the_width_before_its_end() -> None:
    plan = by_hour(Windows("start", HOUR))
    found = window_end(keyed_of(plan), "p.sql:1:1")
    assert spell(found.over_key, plan.schema) == f"timestamp(micros(hour) + {HOUR})"
    assert found.over_key == found.made
    assert found.window == Windows("end", HOUR)


@pytest.mark.parametrize("window", [None, Windows("start", None), Windows("both", HOUR)])
def test_a_key_without_an_end(window: Windows | None) -> None:
    with pytest.raises(ProgramError) as raised:
        window_end(keyed_of(by_hour(window)), "p.sql:4:2")
    assert str(raised.value) == (
        "p.sql:4:2: EMIT needs the end of a window in the stream key of view 'v' (hour, k); "
        "group by window(ts, '10 minutes') and select it, its start or its end"
    )
