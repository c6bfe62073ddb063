"""How long a sink that fails is left alone."""

from __future__ import annotations

from dbsp.pipeline.sinks import OWN, Later
from dbsp.sql.plans.own_forms import OWN_FORMS


def test_waits_double_up_to_a_minute_and_each_sink_has_its_own() -> None:
    later = Later()
    assert [later.failed("a") for _ in range(9)] == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    assert later.failed("b") == 0.5
    assert later.is_early("a")
    assert not later.is_early("c")


def test_after_a_success_the_next_failure_is_a_first_one() -> None:
    later = Later()
    for _ in range(4):
        later.failed("a")
    later.succeeded("a")
    assert not later.is_early("a")
    assert later.failed("a") == 0.5


def test_every_format_of_this_project_has_a_target() -> None:
    assert set(OWN) == set(OWN_FORMS.values())
