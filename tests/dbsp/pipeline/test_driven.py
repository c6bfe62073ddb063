"""A pipeline that its sources drive: nothing runs where there are none. What does run is in spark/."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError, StateError
from dbsp.pipeline.pipeline import Pipeline
from tests.dbsp.build import pipeline


def test_a_program_without_sources_is_said_at_once() -> None:
    with Pipeline(sql="CREATE TABLE t (i INT); CREATE VIEW v AS SELECT i FROM t;", runner="inline") as p:
        with pytest.raises(ProgramError, match="no table has a source"):
            p.start()
        assert not p.running


def test_what_was_never_started_is_at_rest(p):
    assert (p.running, p.stop(), p.unread) == (False, 0, {})
    p.behind = lambda: {"votes": (3, "files")}
    assert p.unread == {"votes": (3, "files")}
    assert p.absent_sources == {}
    p.away = lambda: {"votes": "no route"}
    assert p.absent_sources == {"votes": "no route"}


def test_a_closed_pipeline_doesn_t_start():
    with pipeline() as p:
        pass
    with pytest.raises(StateError, match="the pipeline is closed"):
        p.start()
