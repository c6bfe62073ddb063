"""Wherever a step is disturbed, all is as in a run that wasn't: tried again in the process, and opened again.

At each call to the file system, before it and after it: an error, Ctrl-C, the death of the process; and
Ctrl-C at each line of the code that makes the step true.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import dbsp
from dbsp.circuits.traces import spine
from dbsp.commands.shown.changelog import json_lines
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running import inline
from dbsp.state.records import commits
from dbsp.views.changes import Changes
from dbsp.views.shapes import Shape
from tests.dbsp.build import pipeline, settle
from tests.dbsp.faults import Calls, Point, full_disk, interrupt, is_killed, kill, tracing, watching
from tests.effort import QUICK

VIEWS = ("all_votes", "counts", "customers", "events")
DISTURBED, LAST = 6, 7
RETAIN = 3
THOROUGH = settings.default.max_examples > QUICK


def queue(p: Pipeline) -> None:
    """What the next step is given: a function of its number."""
    step = p.last_step + 1
    p.insert("votes", [(user, user % step) for user in range(20)])
    if step > 1:
        p.delete("votes", [(user, user % (step - 1)) for user in range(5)])
    p.upsert("customer", [{"id": step % 3, "name": f"{step}"}])
    p.insert("event", [(step, None)])


def shown(p: Pipeline) -> dict[str, Any]:
    """All views, and what each kept step changed in them."""
    shape = {view: p[view].rows() for view in VIEWS}
    kept = {(view, step): p.changes_of(view, step).rows() for view in VIEWS for step in p.store.steps}
    return {"step": p.last_step, "views": shape, "changes": kept}


@dataclass
class Run:
    """An undisturbed run. base: the directory as of DISTURBED - 2. after: what is to be seen
    after each step.
    """

    base: Path
    after: dict[int, dict[str, Any]] = field(default_factory=dict)
    lines: dict[int, list[str]] = field(default_factory=dict)

    def check(self, p: Pipeline) -> None:
        expected = self.after[p.last_step]
        found = shown(p)
        # a record that couldn't be deleted is one that is kept for longer
        found["changes"] = {k: v for k, v in found["changes"].items() if k in expected["changes"]}
        assert found == expected

    def go_on(self, p: Pipeline) -> None:
        """The rest of the steps."""
        self.check(p)
        while p.last_step < LAST:
            queue(p)
            changes = p.step()
            assert lines(p, changes) == self.lines[changes.step]
            self.check(p)


def leftovers(p: Pipeline) -> set[str]:
    """Files that nothing refers to."""
    needed = {name for step in p.store.steps for name in p.store.commit_of(step).segments}
    records = {f"{step:012d}.json" for step in p.store.steps}
    there = {*os.listdir(p.store.root / "segments"), *os.listdir(p.store.root / "commits")}
    return there - needed - records - {commits.LAST.name}


def lines(p: Pipeline, changes: Changes) -> list[str]:
    return list(json_lines(changes, Shape.of("retract", p.program)))


@pytest.fixture(scope="module")
def patched() -> Iterator[None]:
    """Merges in pieces of a few rows, some ahead in a thread."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SMALL": 1, "PIECE": 4, "FAN_IN": 2, "WIDE": 1 << 40}.items():
            patch.setattr(spine, name, value)
        patch.setattr(inline, "_WORTH_A_THREAD", 2)
        yield


@pytest.fixture(scope="module")
def run(patched: None, tmp_path_factory: pytest.TempPathFactory) -> Run:
    root = tmp_path_factory.mktemp("undisturbed")
    whole = Run(root / "base")
    with pipeline(root / "state", keep_steps=RETAIN) as p:
        while p.last_step < LAST:
            if p.last_step == DISTURBED - 2:
                settle(p)
                shutil.copytree(p.store.root, whole.base)
            queue(p)
            changes = p.step()
            whole.after[changes.step] = shown(p)
            whole.lines[changes.step] = lines(p, changes)
    return whole


class Disturbed:
    """A copy of the directory, with a pipeline whose next step is queued.

    The pipeline has made a step already: segments of a record that it forgot go in the next one.
    """

    def __init__(self, run: Run, root: Path) -> None:
        self.run, self.root = run, root
        shutil.copytree(run.base, root)
        self.seen: list[int] = []
        self.pipeline = self.open()
        queue(self.pipeline)
        self.pipeline.step()
        queue(self.pipeline)
        self.queued = self.pipeline.queued

    def open(self) -> Pipeline:
        opened = pipeline(self.root, keep_steps=RETAIN)
        since = self.seen[-1] if self.seen else DISTURBED - 2
        opened.subscribe("counts", lambda step, _: self.seen.append(step), since=since)
        return opened

    def settled(self, raised: BaseException | None) -> None:
        """What is true after the step, in this process. raised: what it raised."""
        p = self.pipeline
        if p._closed:
            assert isinstance(raised, dbsp.StateError)
            assert "isn't known" in str(raised)
            return
        if raised is None:
            assert p.last_step == DISTURBED
        elif not isinstance(raised, KeyboardInterrupt):
            assert isinstance(raised, dbsp.Error), repr(raised)
            assert p.last_step == DISTURBED - 1
        assert p.queued == (self.queued if p.last_step < DISTURBED else {})

    def retry(self) -> None:
        """The same step again if it isn't there, and those that follow, in this process."""
        if self.pipeline._closed:
            return
        if self.pipeline.last_step < DISTURBED:
            changes = self.pipeline.step()
            assert lines(self.pipeline, changes) == self.run.lines[DISTURBED]
        self.run.go_on(self.pipeline)

    def reopen(self) -> None:
        """Opened again, all is there, and nothing else."""
        before = None if self.pipeline._closed else self.pipeline.last_step
        self.pipeline.close()
        self.pipeline.close()
        with self.open() as p:
            assert before in (None, p.last_step)
            assert not leftovers(p)
            self.run.go_on(p)
        self.is_complete()

    def is_complete(self) -> None:
        """The subscriber had every step, in order."""
        assert self.seen == sorted(self.seen)
        assert sorted(set(self.seen)) == [*range(DISTURBED - 1, LAST + 1)]


def disturb(run: Run, root: Path, fault: Callable[[], None], point: Point, retried: bool) -> bool:
    """Whether the step came to that point."""
    disturbed = Disturbed(run, root)
    raised: BaseException | None = None
    with watching(root, fault, point) as calls:
        try:
            disturbed.pipeline.step()
        except (Exception, KeyboardInterrupt) as error:
            raised = error
    disturbed.settled(raised)
    if retried:
        disturbed.retry()
    disturbed.reopen()
    shutil.rmtree(root)
    return calls.fired


def survey(run: Run, root: Path) -> Calls:
    """The calls of an undisturbed step."""
    disturbed = Disturbed(run, root)
    with watching(root) as calls:
        disturbed.pipeline.step()
        disturbed.pipeline.store.past.sweep.close()
    return calls


def test_no_call_escapes(run: Run, tmp_path: Path) -> None:
    calls = survey(run, tmp_path / "s")
    assert calls.missed == []
    names = {*calls.driver, *calls.beside}
    assert {"os.link", "os.fsync", "open.write", "os.replace"} <= names
    assert "os.unlink" in calls.driver  # of the oldest record
    assert "os.unlink" in calls.beside  # of segments that the record before it needed
    assert len(calls.driver) > 40


@pytest.mark.slow
@pytest.mark.parametrize("fault", [full_disk, interrupt])
def test_a_step_disturbed_at_any_call(run: Run, tmp_path: Path, fault: Callable[[], None]) -> None:
    points = survey(run, tmp_path / "survey").points()
    fired = tried = 0
    for i, point in enumerate(points if THOROUGH else points[fault is interrupt :: 4]):
        if fault is interrupt and point.beside:
            continue  # only the main thread is interrupted
        for retried in (True, False) if THOROUGH else (i % 2 == 0,):
            tried += 1
            fired += disturb(run, tmp_path / f"{i}-{retried}", fault, point, retried)
    assert fired > 0.8 * tried


@pytest.mark.slow
def test_a_process_killed_at_any_call(run: Run, tmp_path: Path) -> None:
    points = survey(run, tmp_path / "survey").points()
    if not THOROUGH:  # just after one is just before the next
        points = [*[point for point in points if not point.after][::2], points[-1]]
    killed = 0
    for i, point in enumerate(points):
        root = tmp_path / str(i)
        killed += is_killed(partial(stepping, run, root, point))
        with pipeline(root, keep_steps=RETAIN) as p:
            assert p.last_step in (DISTURBED - 1, DISTURBED)
            assert not leftovers(p)
            run.go_on(p)
        shutil.rmtree(root)
    assert killed > 0.8 * len(points)


def stepping(run: Run, root: Path, point: Point) -> None:
    disturbed = Disturbed(run, root)
    with watching(root, kill, point):
        disturbed.pipeline.step()
        disturbed.pipeline.close()


# what makes a step true; of the rest only the calls can fail
MODULES = {
    "pipeline": ("delivering", "pipeline", "stepping"),
    "pipeline/steps": ("attempt", "position"),
    "pipeline/beside": ("subscriptions",),
    "running": ("inline", "queue"),
    "state": ("claim", "lock", "recording", "store"),
    "state/records": ("commits", "sealed"),
    "state/keeping": ("keep", "kept", "past", "sweep", "tags"),
}
FILES = [
    Path(dbsp.__file__).parent / folder / f"{name}.py" for folder, names in MODULES.items() for name in names
]


@pytest.mark.slow
def test_a_step_interrupted_at_any_line(run: Run, tmp_path: Path) -> None:
    """In the long profile: at any instruction, each time that it is come by."""
    assert all(file.is_file() for file in FILES)
    traced = tuple(map(str, FILES))
    disturbed = Disturbed(run, tmp_path / "survey")
    with tracing(traced, instructions=THOROUGH) as found:
        disturbed.pipeline.step()
    places = found.found if THOROUGH else [place for place in found.found if place[2] == 0][::3]
    assert len(places) > 60
    fired = 0
    for i, place in enumerate(places):
        disturbed = Disturbed(run, tmp_path / str(i))
        raised: BaseException | None = None
        with tracing(traced, place, THOROUGH) as lines_:
            try:
                disturbed.pipeline.step()
            except KeyboardInterrupt as error:
                raised = error
        fired += lines_.fired
        disturbed.settled(raised)
        if i % 2:
            disturbed.retry()
        disturbed.reopen()
        shutil.rmtree(disturbed.root)
    assert fired > 0.8 * len(places)
