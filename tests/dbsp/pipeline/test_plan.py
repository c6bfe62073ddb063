"""`dbsp.plan`: a file or a compiled program against a state directory, which stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

import dbsp
from tests.dbsp.build import STEPS, feed, pipeline, votes_program


def test_it_says_what_would_become_of_a_state_and_touches_nothing(tmp_path: Path) -> None:
    with pipeline(tmp_path / "s") as p:
        feed(p)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "s").rglob("*")}
    plan = dbsp.plan(votes_program("f2"), tmp_path / "s")
    assert (plan.step, plan.is_same, plan.refused) == (STEPS, False, ())
    assert plan.of("kept") == ["all_votes", "counts", "customers", "events"]
    assert dbsp.plan(votes_program(), tmp_path / "s").is_same
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "s").rglob("*")} == before


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(dbsp.ProgramError, match=r"none\.sql: can't read the program: No such file"):
        dbsp.plan(tmp_path / "none.sql", tmp_path)
    with pytest.raises(dbsp.StateError, match=str(tmp_path / "none")):
        dbsp.plan(votes_program(), tmp_path / "none")
