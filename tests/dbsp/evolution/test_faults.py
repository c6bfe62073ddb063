"""Wherever a change of program is disturbed, the directory is wholly the old program's or the new one's."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import dbsp
import dbsp.evolution.given
from dbsp.pipeline.beside.changing import Changing
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.inline import InlineRunner
from dbsp.state.store import Store
from tests.dbsp.build import STEPS, feed, pipeline, view
from tests.dbsp.evolution.changing import OLD, counted, with_
from tests.dbsp.faults import Calls, Point, full_disk, interrupt, is_killed, kill, run_at, watching
from tests.effort import QUICK

THOROUGH = settings.default.max_examples > QUICK
NEW = with_(
    by_user=view("by_user", counted(0, "user_id")),
    customers=None,
    counts=view("counts", counted(0, "story_id")),
)


@pytest.fixture(autouse=True)
def patched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several pieces."""
    monkeypatch.setattr(dbsp.evolution.given, "PIECE", 6)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    with pipeline(tmp_path / "base", program=OLD) as p:
        feed(p)
    return tmp_path / "base"


def shown(p: Pipeline) -> dict[str, Any]:
    return {view: p[view].rows() for view in p}


def change(root: Path) -> Pipeline:
    return pipeline(root, program=NEW, evolve=True)


def survey(base: Path, root: Path) -> tuple[Calls, dict[str, Any]]:
    """The calls of an undisturbed change, and what the views are then."""
    shutil.copytree(base, root)
    with watching(root) as calls:
        evolved = change(root)
    with evolved:
        after = shown(evolved)
    return calls, after


def is_one_or_the_other(root: Path, before: dict[str, Any], after: dict[str, Any]) -> int:
    """The last step. A reader and a writer find the same program, and go on with it."""
    identity = Store.read(root)[1]
    changed = identity.fingerprint == NEW.fingerprint
    assert changed or identity.fingerprint == OLD.fingerprint
    with pipeline(root, program=NEW if changed else OLD) as p:
        assert p.last_step == STEPS + changed
        assert shown(p) == (after if changed else before)
        needed = {name for step in p.store.steps for name in p.store.commit_of(step).segments}
        assert {*os.listdir(root / "segments")} == needed
        assert not (root / "program.next.json").exists()
    with change(root) as p:
        assert p.last_step == STEPS + 1
        assert shown(p) == after
        p.insert("votes", [(1, 1)])
        assert len(p.step()["by_user"]) == 2
    return STEPS + changed


def disturbed(base: Path, root: Path, fault: Any, point: Point) -> None:
    """In this process."""
    shutil.copytree(base, root)
    opened = []
    with watching(root, fault, point), suppress(dbsp.Error, KeyboardInterrupt):
        opened.append(change(root))
    for each in opened:
        each.close()


def killed(base: Path, root: Path, point: Point) -> bool:
    """In a process of its own, which dies of it."""
    shutil.copytree(base, root)
    return is_killed(partial(run_at, root, kill, point, lambda: change(root).close()))


@pytest.mark.slow
@pytest.mark.parametrize("fault", [full_disk, interrupt, kill], ids=["full disk", "Ctrl-C", "killed"])
def test_a_change_disturbed_at_any_call(base: Path, tmp_path: Path, fault: Any) -> None:
    with pipeline(base, program=OLD) as p:
        before = shown(p)
    calls, after = survey(base, tmp_path / "survey")
    # a lock that can't be given back is held until the process ends
    points = [p for p in calls.points() if not p.beside and calls.driver[p.n] != "os.close"]
    assert len(points) > 60
    ends, died, tried = set(), 0, points if THOROUGH else points[2::12]
    for i, point in enumerate(tried):
        root = tmp_path / str(i)
        if fault is kill:
            died += killed(base, root, point)
        else:
            disturbed(base, root, fault, point)
        ends.add(is_one_or_the_other(root, before, after))
        shutil.rmtree(root)
    assert ends == {STEPS, STEPS + 1}
    assert fault is not kill or died > 0.8 * len(tried)  # nothing comes after a call that fails


def beside(root: Path) -> None:
    """The same change, while the old program's steps go on."""

    def said(line: str) -> None:
        if line.startswith("back-filling") and old.last_step < STEPS + 3:
            old.insert("votes", [(20 + old.last_step, 1)])
            old.step()

    with pipeline(root, program=OLD, keep_steps=1) as old:
        changing = Changing(old, NEW, InlineRunner(), said)
        changing.fill()
        changing.commit()


def is_what_its_votes_say(p: Pipeline) -> None:
    votes = [(row["user_id"], row["story_id"]) for row in p["all_votes"].rows()]
    column = 0 if p.program is NEW else 1  # under the same name
    counts = {row["story_id"]: row["n"] for row in p["counts"].rows()}
    assert counts == Counter(vote[column] for vote in votes)
    if p.program is NEW:
        assert {row["user_id"]: row["n"] for row in p["by_user"].rows()} == Counter(vote[0] for vote in votes)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [full_disk, kill], ids=["full disk", "killed"])
def test_a_change_beside_steps_disturbed_at_any_call(base: Path, tmp_path: Path, fault: Any) -> None:
    shutil.copytree(base, tmp_path / "survey")
    with watching(tmp_path / "survey") as calls:
        beside(tmp_path / "survey")
    points = [p for p in calls.points() if not p.beside and calls.driver[p.n] != "os.close"]
    assert len(points) > 60
    ends = set()
    for i, point in enumerate(points if THOROUGH else points[3::22]):
        root = tmp_path / str(i)
        shutil.copytree(base, root)
        is_killed(partial(run_at, root, fault, point, partial(beside, root)))
        changed = Store.read(root)[1].fingerprint == NEW.fingerprint
        ends.add(changed)
        with pipeline(root, program=NEW if changed else OLD) as p:
            is_what_its_votes_say(p)
            needed = {name for step in p.store.steps for name in p.store.commit_of(step).segments}
            assert {*os.listdir(root / "segments")} == needed
        with change(root) as p:
            is_what_its_votes_say(p)
        shutil.rmtree(root)
    assert ends == {False, True}


def test_every_call_is_watched(base: Path, tmp_path: Path) -> None:
    calls, _ = survey(base, tmp_path / "survey")
    assert calls.missed == []
    assert {"os.link", "os.replace", "open.write"} <= {*calls.driver}
