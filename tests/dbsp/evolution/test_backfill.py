"""What is new is computed in pieces, follows the state, and can be given up."""

from __future__ import annotations

from pathlib import Path

import pytest

import dbsp.evolution.given
from dbsp.evolution.backfill import Abandoned, Backfill
from dbsp.evolution.evolve import change_of, fill_whole
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.inline import InlineRunner
from dbsp.state.claim import owner
from tests.dbsp.build import feed, pipeline
from tests.dbsp.evolution.changing import BY_USER, OLD, files, with_


@pytest.fixture(autouse=True)
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dbsp.evolution.given, "PIECE", 4)


def begun(p: Pipeline, said: list[str]) -> Backfill:
    before = owner(p.store.root)
    assert before is not None
    change = change_of(with_(by_user=BY_USER), before, p.store, False)
    return Backfill(change, p.store.segments, InlineRunner(), 1, False, said.append)


def test_each_piece_is_said_and_the_next_state_is_followed(tmp_path: Path) -> None:
    said: list[str] = []
    with pipeline(tmp_path, program=OLD) as p:
        feed(p)
        made = begun(p, said)
        fill_whole(made, p.store, None)
        assert len(said) > 2 and said[-1] == "back-filling: 17 of 17 rows"
        assert p.store.last is not None and made.behind(p.store.last) == 0
        p.insert("votes", [(77, 1)])
        p.step()
        behind = made.behind(p.store.last)
        assert behind > 0
        made.follow(p.store.last)
        assert (made.rows, made.total, made.behind(p.store.last)) == (17 + behind, 17 + behind, 0)
        filled = made.fill.filled.values()
        assert {spine.rows for node, spine in made.state.spines.items() if node in filled} >= {11}


def test_it_ends_between_two_pieces_and_leaves_nothing(tmp_path: Path) -> None:
    with pipeline(tmp_path, program=OLD) as p:
        feed(p)
        there = files(tmp_path)
        said: list[str] = []
        made = begun(p, said)
        made.ends = lambda: bool(said)
        with pytest.raises(Abandoned, match="given up; nothing has changed"):
            fill_whole(made, p.store, None)
        assert len(said) == 1
        assert files(tmp_path) == there
