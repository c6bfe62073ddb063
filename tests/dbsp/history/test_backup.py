"""A backup, restored, is the state as of one step: it is read alike, and goes on alike."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsp.circuits.errors import DamagedChunk, StateError
from dbsp.circuits.traces import spine
from dbsp.commands.fsck import examine
from dbsp.commands.shown.changelog import json_lines
from dbsp.history.backup import NAME, back_up, restore
from dbsp.history.branch import branch
from dbsp.history.status import status_of
from dbsp.pipeline.pipeline import Pipeline
from dbsp.state.records.batch_files import digest_of
from dbsp.state.store import Store
from tests.dbsp.build import STEPS, feed, pipeline
from tests.dbsp.evolution.changing import BY_USER, with_
from tests.dbsp.faults import full_disk, interrupt, is_killed, kill, run_at, watching
from tests.effort import QUICK, examples

THOROUGH = settings.default.max_examples > QUICK
VIEWS = ("all_votes", "counts", "customers", "events")


@pytest.fixture(scope="module", autouse=True)
def merged() -> Iterator[None]:
    """Traces merge all the time."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SMALL": 1, "PIECE": 4, "FAN_IN": 2, "WIDE": 1 << 40}.items():
            patch.setattr(spine, name, value)
        yield


def step(p: Pipeline) -> list[str]:
    """The lines of a step; each is a function of its number."""
    number = p.last_step + 1
    p.insert("votes", [(user, user % number) for user in range(10)])
    p.delete("votes", [(user, user % (number - 1)) for user in range(5)] if number > 1 else [])
    p.upsert("customer", [{"id": number % 3, "name": f"{number}"}])
    return list(json_lines(p.step()))


def shown(p: Pipeline) -> dict[Any, Any]:
    """The bytes of all views as of every step that is kept."""
    return {(view, n): p.view(view, as_of=n).to_arrow().to_pylist() for view in VIEWS for n in p.store.steps}


def segments(root: Path) -> set[str]:
    return {*os.listdir(root / "segments")}


@given(
    between=st.lists(st.integers(1, 5), min_size=1, max_size=3), keep=st.integers(1, 4), tagged=st.booleans()
)
@examples(4)
def test_what_is_restored_is_the_original_and_goes_on_alike(
    tmp_path_factory: Any, between: list[int], keep: int, tagged: bool
) -> None:
    """between: steps before each backup into the same directory."""
    root = tmp_path_factory.mktemp("b")
    with pipeline(root / "s", keep_steps=keep) as p:
        for n, steps in enumerate(between):
            for _ in range(steps):
                step(p)
            if tagged and n == 0:
                p.store.tags.add("it", p.last_step)
            made = back_up(root / "s", root / "to")
            assert made.step == p.last_step
            before = {name: os.stat(root / "to" / "segments" / name).st_ino for name in segments(root / "to")}
            again = back_up(root / "s", root / "to")
            assert (again.segments, again.size) == (0, 0)
            assert before == {name: os.stat(root / "to" / "segments" / name).st_ino for name in before}
        assert list(p.store.tags.all()) == ["it"] * tagged
        there, went_on = shown(p), [step(p) for _ in range(3)]
        after = shown(p)
    restore(root / "to", root / "r")
    with pipeline(root / "r") as p:
        assert p.store.keep.steps == keep
        assert shown(p) == there
        assert [step(p) for _ in range(3)] == went_on
        assert shown(p) == after


@pytest.mark.slow
def test_while_a_writer_runs(tmp_path: Path) -> None:
    stop, failed = threading.Event(), []

    def write() -> None:
        try:
            with pipeline(tmp_path / "s", keep_steps=2) as p:
                while not stop.is_set() or p.last_step < 20:
                    step(p)
        except BaseException as error:
            failed.append(error)
            raise

    writer = threading.Thread(target=write)
    writer.start()
    made = []
    try:
        while not (tmp_path / "s" / "commits" / "last").exists():
            assert not failed
        for n in range(4):
            made.append(back_up(tmp_path / "s", tmp_path / "to").step)
            restore(tmp_path / "to", tmp_path / f"r{n}")
    finally:
        stop.set()
        writer.join()
    assert not failed
    assert made == sorted(made)
    with pipeline(tmp_path / "alone") as alone:
        for n, last in enumerate(made):
            while alone.last_step < last:
                step(alone)
            with pipeline(tmp_path / f"r{n}") as p:
                assert p.last_step == last
                for view in VIEWS:
                    assert p[view].rows() == alone[view].rows()
    assert not Store.read(tmp_path / "s")[0].tags.all()


def test_what_is_damaged_is_copied_again_or_named(tmp_path: Path) -> None:
    with pipeline(tmp_path / "s") as p:
        feed(p)
    back_up(tmp_path / "s", tmp_path / "to")
    name = max(segments(tmp_path / "to"))
    for content in (b"", b"x" * 4000):
        (tmp_path / "to" / "segments" / name).write_bytes(content)
        with pytest.raises(DamagedChunk, match=f"to/segments/{name}: damaged"):
            restore(tmp_path / "to", tmp_path / "r")
        assert not (tmp_path / "r").exists()
        assert back_up(tmp_path / "s", tmp_path / "to").segments == 1
    restore(tmp_path / "to", tmp_path / "r")
    shutil.rmtree(tmp_path / "to")
    (tmp_path / "s" / "segments" / name).write_bytes(b"x" * 4000)
    with pytest.raises(DamagedChunk, match=f"s/segments/{name}: damaged"):
        back_up(tmp_path / "s", tmp_path / "to")


def test_a_damaged_checkpoint_is_no_backup(tmp_path: Path) -> None:
    """What steps before the last have no more of it is left out."""
    offsets = tmp_path / "s" / "checkpoint" / "offsets"
    with pipeline(tmp_path / "s") as p:
        for batch in (0, 1):
            offsets.mkdir(parents=True, exist_ok=True)
            content = f"v1\n{batch}".encode()
            (offsets / f"{batch}").write_bytes(content)
            p.insert("votes", [(1, 1)])
            p.step(stream="s", batch=batch, offsets={f"offsets/{batch}": digest_of(content)})
            back_up(tmp_path / "s", tmp_path / "to")
    there = files(tmp_path / "to")
    for batch in (0, 1):
        whole = (offsets / f"{batch}").read_bytes()
        (offsets / f"{batch}").write_bytes(whole[:-1] + b"7")
        with pytest.raises(StateError, match=rf"s/checkpoint/offsets/{batch}: damaged: .* step {batch + 1} "):
            back_up(tmp_path / "s", tmp_path / "to")
        assert files(tmp_path / "to") == there
        (offsets / f"{batch}").write_bytes(whole)
    (offsets / "0").unlink()
    assert back_up(tmp_path / "s", tmp_path / "to").steps == (1, 2)
    (offsets / "1").unlink()
    with pytest.raises(StateError, match="offsets/1: went away while it was copied"):
        back_up(tmp_path / "s", tmp_path / "to")


def files(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="no such directory"):
        back_up(tmp_path / "s", tmp_path / "to")
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="is a file; a backup needs a directory"):
        back_up(tmp_path / "s", tmp_path / "file")
    with pytest.raises(StateError, match=r"file/to: can't be made for a backup: Not a directory$"):
        back_up(tmp_path / "s", tmp_path / "file" / "to")
    with pipeline(tmp_path / "s") as p:
        with pytest.raises(StateError, match="no step yet, so nothing to back up"):
            back_up(tmp_path / "s", tmp_path / "to")
        with pytest.raises(StateError, match="is in the state directory"):
            back_up(tmp_path / "s", tmp_path / "s" / "to")
        feed(p)
    with pipeline(tmp_path / "another") as p:
        feed(p)
    with pytest.raises(StateError, match=r"no backup \(it has no backup.json\)"):
        restore(tmp_path / "s", tmp_path / "r")
    with pytest.raises(StateError, match=r"is no backup \(it holds 'commits'\)"):
        back_up(tmp_path / "s", tmp_path / "another")
    back_up(tmp_path / "s", tmp_path / "to")
    for read in (Store.read, status_of, examine, pipeline):
        with pytest.raises(StateError, match=r"to: is a backup; .*: dbsp restore \S+/to STATE$"):
            read(tmp_path / "to")
    with pytest.raises(StateError, match=f"holds step {STEPS} of another state"):
        back_up(tmp_path / "another", tmp_path / "to")
    with pytest.raises(StateError, match="is there already; use a new directory"):
        restore(tmp_path / "to", tmp_path / "s")
    path = tmp_path / "to" / NAME
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StateError, match=r"backup.json: damaged: .* use a backup before it"):
        restore(tmp_path / "to", tmp_path / "r")


def test_a_backup_is_of_one_state(tmp_path: Path) -> None:
    """However many steps another one has. What is restored goes on in its place, a branch doesn't."""
    state, to = tmp_path / "s", tmp_path / "to"
    with pipeline(state, keep_steps=1) as p, pipeline(tmp_path / "another", keep_steps=1) as another:
        step(p)
        back_up(state, to)
        branch(state, 1, tmp_path / "if")
        for _ in range(3):
            step(another)
    with pipeline(tmp_path / "if", keep_steps=1) as p:
        for _ in range(3):
            step(p)
    there = files(to)
    for other in (tmp_path / "another", tmp_path / "if"):
        with pytest.raises(StateError, match="to: holds step 1 of another state; use another directory"):
            back_up(other, to)
    assert files(to) == there
    shutil.rmtree(state)
    restore(to, state)
    with pipeline(state, program=with_(by_user=BY_USER), evolve=True, keep_steps=1) as p:
        for n in range(3):
            p.insert("votes", [(n, n)])
            p.step()
        assert back_up(state, to).step == p.last_step


def prepared(tmp_path: Path) -> tuple[list[Any], Path, Path]:
    """(what is to be seen after each of two steps, a state, a backup of the first)."""
    seen = []
    with pipeline(tmp_path / "s", keep_steps=1) as p:
        feed(p)
        seen.append(shown(p))
        back_up(tmp_path / "s", tmp_path / "to")
        step(p)
        seen.append(shown(p))
    return seen, tmp_path / "s", tmp_path / "to"


def is_one_of(seen: list[Any], to: Path, root: Path) -> int:
    """Which of two backups is there."""
    restore(to, root)
    with pipeline(root) as p:
        return seen.index(shown(p))


@pytest.mark.slow
@pytest.mark.parametrize("fault", [full_disk, interrupt, kill], ids=["full disk", "Ctrl-C", "killed"])
def test_one_that_is_disturbed_leaves_the_one_before(tmp_path: Path, fault: Any) -> None:
    seen, state, to = prepared(tmp_path)
    shutil.copytree(to, tmp_path / "survey")
    with watching(tmp_path / "survey") as calls:
        back_up(state, tmp_path / "survey")
    assert calls.missed == []
    points = [p for p in calls.points() if calls.driver[p.n] != "os.close"]
    ends = set()
    for i, point in enumerate(points if THOROUGH else points[i_of(fault) :: 5]):
        work = tmp_path / str(i)
        shutil.copytree(to, work)
        is_killed(partial(run_at, work, fault, point, partial(back_up, state, work)))
        ends.add(is_one_of(seen, work, tmp_path / f"r{i}"))
        back_up(state, work)
        assert is_one_of(seen, work, tmp_path / f"q{i}") == 1
        assert segments(work) == {n for s in Store.read(state)[0].steps for n in needed(state, s)}
        for path in (work, tmp_path / f"r{i}", tmp_path / f"q{i}"):
            shutil.rmtree(path)
    assert ends == {0, 1}


def i_of(fault: Any) -> int:
    return [full_disk, interrupt, kill].index(fault)


def needed(root: Path, number: int) -> frozenset[str]:
    return Store.read(root)[0].commit_of(number).segments


@pytest.mark.slow
def test_what_is_restored_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    seen, state, to = prepared(tmp_path)
    back_up(state, to)
    with watching(tmp_path / "r") as calls:
        restore(to, tmp_path / "r")
    shutil.rmtree(tmp_path / "r")
    whole = set()
    with watching(tmp_path) as calls:
        restore(to, tmp_path / "q")
    points = calls.points()
    for point in points if THOROUGH else points[::7]:
        is_killed(partial(run_at, tmp_path, kill, point, partial(restore, to, tmp_path / "r")))
        there = (tmp_path / "r").exists()
        whole.add(there)
        if not there:
            restore(to, tmp_path / "r")
        with pipeline(tmp_path / "r") as p:
            assert shown(p) == seen[1]
        shutil.rmtree(tmp_path / "r")
    assert whole == {True, False}
