"""Who is told of a step: subscribers after its commit, sinks as the pipeline says."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import Error, ProgramError, StateError
from tests.dbsp.build import pipeline


def test_subscribers_are_called_after_the_commit(p):
    seen = []
    p.subscribe("counts", lambda step, changes: seen.append((step, p.last_step, changes.rows())))
    p.insert("votes", [(1, 1)])
    p.step()
    assert seen == [(1, 1, [({"story_id": 1, "n": 1}, 1)])]
    with pytest.raises(ProgramError, match=r"unknown view 'cuonts'; .*did you mean 'counts'"):
        p.subscribe("cuonts", print)
    with pytest.raises(Error, match="subscribe: 5 can't be called"):
        p.subscribe("counts", 5)


def test_without_sinks_there_is_nothing_to_deliver_while_it_is_open(p):
    p.insert("votes", [(1, 1)])
    p.step()
    p.deliver()
    p.redeliver()
    assert p.undelivered == {}


def test_a_closed_pipeline_tells_nobody():
    with pipeline() as p:
        pass
    with pytest.raises(StateError, match="the pipeline is closed"):
        p.subscribe("counts", print)
