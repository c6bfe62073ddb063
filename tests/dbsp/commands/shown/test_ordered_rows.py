"""A view's first rows, kept from step to step, are those that a look at the view would give."""

from __future__ import annotations

from random import Random

import pytest

from dbsp.commands.shown import ordered_rows
from dbsp.commands.shown.ordered_rows import OrderedRows
from dbsp.pipeline.pipeline import Pipeline
from tests.dbsp.build import pipeline


def contents(p: Pipeline, view: str) -> list[list[str]]:
    return [[str(value) for value in row.values()] for row in p[view].rows()]


def test_they_follow_what_steps_change() -> None:
    random, held = Random(7), []
    with pipeline() as p:
        kept = OrderedRows(p, "all_votes")
        assert (kept.names, kept.to_the_right) == (["user_id", "story_id"], [True, True])
        for _ in range(20):
            for _ in range(random.randrange(4)):
                held.append((random.randrange(3), random.randrange(12)))
                p.insert("votes", held[-1:])
            if held and random.random() < 0.5:
                p.delete("votes", [held.pop(random.randrange(len(held)))])
            kept.step(p.step()["all_votes"].zset, len(p["all_votes"]))
            assert kept.first(1000) == contents(p, "all_votes")
            assert kept.first(2) == contents(p, "all_votes")[:2]


def test_what_was_there_before_is_there() -> None:
    with pipeline() as p:
        p.insert("votes", [(2, 1), (1, 1), (1, 1)])
        p.step()
        assert OrderedRows(p, "all_votes").first(9) == [["1", "1"], ["1", "1"], ["2", "1"]]


def test_a_view_that_grows_large_is_given_up_until_it_is_half_of_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ordered_rows, "FEW", 4)
    with pipeline() as p:
        kept = OrderedRows(p, "all_votes")

        def step() -> None:
            kept.step(p.step()["all_votes"].zset, len(p["all_votes"]))

        p.insert("votes", [(user, 1) for user in range(4)])
        step()
        assert (kept.why_not, len(kept.first(9))) == ("", 4)
        p.insert("votes", [(9, 1)])
        step()
        assert "too many rows to keep in order here; `dbsp query` lists them" in kept.why_not
        assert kept.first(9) == []
        p.delete("votes", [(9, 1), (0, 1)])
        step()
        assert kept.why_not
        p.delete("votes", [(1, 1)])
        step()
        assert (kept.why_not, kept.first(9)) == ("", [["2", "1"], ["3", "1"]])
