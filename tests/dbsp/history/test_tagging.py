"""A reader pins a step beside a writer that forgets."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from dbsp import Pipeline, StateError, pin
from dbsp.history.tagging import tag, untag
from dbsp.state.store import Store
from tests.dbsp.build import feed, pipeline


def steps(root: Path) -> list[int]:
    return Store.read(root)[0].steps


def more(p: Pipeline) -> None:
    p.insert("votes", [(9, 9)])
    p.step()


def test_a_pinned_step_stays_while_it_is_read(tmp_path: Path) -> None:
    with pipeline(tmp_path / "s", keep_steps=1) as p:
        feed(p)
        last = p.last_step
        with pin(tmp_path / "s") as step:
            assert step == last
            then = p.view("all_votes").rows()
            more(p)
            more(p)
            assert p.view("all_votes", as_of=step).rows() == then
            assert steps(tmp_path / "s") == [last, last + 2]
        more(p)
        assert steps(tmp_path / "s") == [last + 3]


def test_a_reader_that_outlasts_its_pin_ends_as_it_would(tmp_path: Path) -> None:
    """With no error, or with its own."""
    with pipeline(tmp_path / "s", keep_steps=1) as p:
        feed(p)
        with pin(tmp_path / "s", lasting=timedelta(0)) as step:
            more(p)
            assert steps(tmp_path / "s") == [step + 1]
        with pytest.raises(KeyError, match="its own"), pin(tmp_path / "s", lasting=timedelta(0)):
            more(p)
            raise KeyError("its own")


def test_tags_by_name(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="no such directory"):
        tag(tmp_path / "s", "a")
    with pipeline(tmp_path / "s", keep_steps=2) as p:
        with pytest.raises(StateError, match="no step yet, so nothing to tag"):
            tag(tmp_path / "s", "a")
        feed(p)
        assert tag(tmp_path / "s", "a", as_of=p.last_step - 1) == p.last_step - 1
        assert tag(tmp_path / "s", "b", as_of="a") == p.last_step - 1
        untag(tmp_path / "s", "a")
        assert p.view("counts", as_of="b").rows() == p.view("counts", as_of=p.last_step - 1).rows()
