"""A record that isn't made leaves nothing, and one that is refers to all that it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.state.store import Store
from tests.dbsp.build import STEPS, feed, pipeline
from tests.dbsp.evolution.changing import BY_USER, OLD, files, with_

NEW = with_(by_user=BY_USER)


def test_a_commit_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pipeline(tmp_path, program=OLD) as p:
        feed(p)
    there = files(tmp_path)

    def fails(*_: object) -> None:
        raise StateError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(Store, "commit", fails)
        with pytest.raises(StateError, match="the disk is full"):
            pipeline(tmp_path, program=NEW, evolve=True)
    assert files(tmp_path) == there


def test_what_was_merged_on_the_way_is_gone(tmp_path: Path) -> None:
    with pipeline(tmp_path, program=OLD) as p:
        feed(p)
    with pipeline(tmp_path, program=NEW, evolve=True) as p:
        assert p.store.last is not None and p.last_step == STEPS + 1
        made = {*p.store.segments.names("evolution-")}
        assert made and made <= p.store.last.segments
