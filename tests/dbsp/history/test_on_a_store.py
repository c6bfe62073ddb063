"""Tags, backups, restored states and what-ifs of a state on a store are those of a directory.

The server is a real one, behind a proxy: each request may be lost or refused, with all that follow.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import dbsp
from dbsp.circuits.errors import DamagedChunk, StateError
from dbsp.commands.fsck import examine
from dbsp.history import backup
from dbsp.history.backup import back_up, restore
from dbsp.history.branch import branch
from dbsp.history.tagging import pin, tag, untag
from dbsp.pipeline.pipeline import Pipeline
from dbsp.state.keeping import past, sweep
from dbsp.state.objects.lease import NAME as LEASE
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.places import delete_all, names_in, place_of
from dbsp.state.store import Store
from tests.dbsp.build import pipeline
from tests.dbsp.history.test_backup import merged, shown, step
from tests.dbsp.state.objects.places import OnStore, on_store
from tests.effort import QUICK
from tests.servers.s3 import Request, Server

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures(merged.__name__)]
THOROUGH = settings.default.max_examples > QUICK


@pytest.fixture(autouse=True)
def swept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deletions all the time."""
    monkeypatch.setattr(past, "EXPIRED", 2)
    monkeypatch.setattr(sweep, "COLLECTED", 3)


@pytest.fixture
def there(s3_server: Server, tmp_path: Path) -> Iterator[OnStore]:
    with on_store(s3_server, tmp_path / "cache") as found:
        yield found


def at(there: OnStore, tmp_path: Path, name: str) -> str:
    """'s3 name' is a place on the store, 'name' a directory."""
    on_s3, _, last = name.rpartition(" ")
    return f"{there.uri}-{last}" if on_s3 else str(tmp_path / last)


def asked(there: OnStore, first: int, method: str, folder: str) -> list[Request]:
    return [r for r in there.proxy.seen[first:] if r.method == method and f"{folder}/" in r.path]


def steal(place: str) -> None:
    """As if a lease had ended."""
    root = place_of(place)
    if isinstance(root, ObjectPath):
        with suppress(FileNotFoundError):
            root.bucket.delete([LEASE])


PLACES = [
    ("s3 s", "to", "s3 r"),
    ("s", "s3 to", "s3 r"),
]


@pytest.mark.parametrize("names", PLACES, ids=[", ".join(names) for names in PLACES])
def test_what_is_restored_is_the_original_and_goes_on_alike(
    there: OnStore, tmp_path: Path, names: tuple[str, str, str]
) -> None:
    state, to, restored = (at(there, tmp_path, name) for name in names)
    with pipeline(state, keep_steps=3) as p:  # type: ignore[arg-type]
        for n, steps in enumerate((2, 4)):
            for _ in range(steps):
                step(p)
            if n == 0:
                tag(state, "it", 1)
            made = back_up(state, to)
            assert made.step == p.last_step
            first = len(there.proxy.seen)
            again = back_up(state, to)
            assert (again.segments, again.size) == (0, 0)
            assert not asked(there, first, "PUT", "segments")
            assert not asked(there, first, "GET", "segments")
        assert list(Store.read(state)[0].tags.all()) == ["it"]
        seen, went_on = shown(p), [step(p) for _ in range(2)]
    needed = {name for n in seen_steps(seen) for name in Store.read(state)[0].commit_of(n).segments}
    assert needed <= {*names_in(place_of(to) / "segments")}
    restore(to, restored)
    with pipeline(restored) as p:  # type: ignore[arg-type]
        assert p.store.keep.steps == 3
        assert {key: rows for key, rows in shown(p).items() if key in seen} == seen
        assert [step(p) for _ in range(2)] == went_on
    assert examine(place_of(restored))[0] == []
    with pytest.raises(StateError, match="is there already; use a new"):
        restore(to, restored)


def seen_steps(seen: dict[Any, Any]) -> set[int]:
    return {n for _, n in seen if n > 5}


def test_a_tag_survives_any_expiry(there: OnStore) -> None:
    with pipeline(there.uri, keep_steps=1) as p:  # type: ignore[arg-type]
        step(p)
        step(p)
        tag(there.uri, "two")
        seen = p["all_votes"].rows()
        for n in range(3, 10):
            step(p)
            assert p.view("all_votes", as_of="two").rows() == seen, n
            with pytest.raises(StateError, match="tag 'two' is of step 2; delete it first"):
                tag(there.uri, "two")
        with pin(there.uri, 2):
            untag(there.uri, "two")
            for _ in range(3):
                step(p)
            assert p.view("all_votes", as_of=2).rows() == seen
        for _ in range(5):
            step(p)
        with pytest.raises(StateError, match="step 2 is not kept"):
            p.view("all_votes", as_of=2)
        with pytest.raises(StateError, match="step 2 is not kept"):
            tag(there.uri, "late", 2)
    with pipeline(there.uri) as p:  # type: ignore[arg-type]
        assert p.store.tags.all() == {}
    assert examine(place_of(there.uri))[0] == []


def test_a_tag_that_comes_while_its_step_goes(there: OnStore) -> None:
    """After the writer has looked for tags, and before it has deleted the record."""

    def tags_first(_: int, request: Request) -> None:
        if request.method == "POST" and not made:  # of many keys: a deletion
            made.append(True)
            there.proxy.fault = lambda n, request: None
            tag(there.uri, "late", 2)

    made: list[bool] = []
    with pipeline(there.uri, keep_steps=1) as p:  # type: ignore[arg-type]
        step(p)
        step(p)
        seen = p["all_votes"].rows()
        there.proxy.fault = tags_first
        for _ in range(6):
            step(p)
        assert made
        assert p.view("all_votes", as_of="late").rows() == seen
    with pipeline(there.uri) as p:  # type: ignore[arg-type]
        assert p.view("all_votes", as_of="late").rows() == seen
    assert examine(place_of(there.uri))[0] == []


def test_a_step_looks_for_tags_only_when_records_go(there: OnStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "EXPIRED", 4)
    with pipeline(there.uri, keep_steps=1) as p:  # type: ignore[arg-type]
        step(p)
        lists = []
        for _ in range(8):
            p.insert("votes", [(1, 1)])
            lists.append(p.step().metrics.traffic.lists)
    assert lists == [0, 0, 0, 2, 0, 0, 0, 2]


def test_while_a_writer_runs(there: OnStore, tmp_path: Path) -> None:
    stop, failed = threading.Event(), []

    def write() -> None:
        try:
            with pipeline(there.uri, keep_steps=2) as p:  # type: ignore[arg-type]
                step(p)
                began.set()
                while not stop.is_set() or p.last_step < 10:
                    step(p)
        except BaseException as error:
            failed.append(error)
            began.set()
            raise

    began = threading.Event()
    writer = threading.Thread(target=write)
    writer.start()
    began.wait()
    made = []
    try:
        for n in range(2):
            made.append(back_up(there.uri, tmp_path / "to").step)
            restore(tmp_path / "to", tmp_path / f"r{n}")
    finally:
        stop.set()
        writer.join()
    assert not failed
    with pipeline(tmp_path / "alone") as alone:
        for n, last in enumerate(made):
            while alone.last_step < last:
                step(alone)
            with pipeline(tmp_path / f"r{n}") as p:
                assert p.last_step == last
                assert p["counts"].rows() == alone["counts"].rows()
    assert not Store.read(there.uri)[0].tags.all()


# -- faults -----------------------------------------------------------------------------------------


def disturbed(there: OnStore, first: int, kind: str, act: Callable[[], object]) -> bool:
    """From a request on nothing gets through; whether it came to that."""
    base, fired = len(there.proxy.seen) + first, []

    def fault(n: int, _: Request) -> str | None:
        if n < base:
            return None
        fired.append(n)
        return kind

    there.proxy.fault = fault
    with suppress(dbsp.Error):
        act()
    there.proxy.fault = lambda n, request: None
    return bool(fired)


@pytest.mark.parametrize("kind", ["lose", "refuse"])
def test_a_backup_that_is_disturbed_leaves_the_one_before(there: OnStore, tmp_path: Path, kind: str) -> None:
    seen, state = [], tmp_path / "s"
    with pipeline(state, keep_steps=1) as p:
        for n in range(2):
            step(p)
            seen.append(shown(p))
            if n == 0:
                back_up(state, tmp_path / "before")
    offset, fired, ends = len(kind) % 3, True, set()
    while fired:
        to = f"{there.uri}-{offset}"
        restore(tmp_path / "before", tmp_path / f"s{offset}")
        back_up(tmp_path / f"s{offset}", to)
        fired = disturbed(there, offset, kind, lambda to=to: back_up(state, to))  # type: ignore[misc]
        steal(to)
        for name, wanted in (("r", None), ("q", 1)):
            restore(to, tmp_path / f"{name}{offset}")
            with pipeline(tmp_path / f"{name}{offset}") as p:
                found = seen.index(shown(p))
            assert wanted in (None, found)
            ends.add(found)
            back_up(state, to)
        assert {*names_in(place_of(to) / "segments")} == Store.read(state)[0].commit_of(2).segments
        offset += 1 if THOROUGH else 6
    assert ends == {0, 1}


@pytest.mark.parametrize("kind", ["lose", "refuse"])
def test_what_is_restored_is_there_as_a_whole_or_not_at_all(
    there: OnStore, tmp_path: Path, kind: str
) -> None:
    with pipeline(tmp_path / "s", keep_steps=2) as p:
        for _ in range(3):
            step(p)
        seen = shown(p)
    back_up(tmp_path / "s", tmp_path / "to")
    offset, fired, ends = len(kind) % 4, True, set()
    while fired:
        to = f"{there.uri}-{offset}"
        fired = disturbed(there, offset, kind, lambda to=to: restore(tmp_path / "to", to))  # type: ignore[misc]
        steal(to)
        is_there = (place_of(to) / "program.json").exists()
        ends.add(is_there)
        if not is_there:
            with pytest.raises(StateError, match="no state directory"):
                Store.read(to)
            restore(tmp_path / "to", to)
        with pipeline(to) as p:  # type: ignore[arg-type]
            assert shown(p) == seen
        assert examine(place_of(to))[0] == []
        offset += 1 if THOROUGH else 7
    assert ends == {True, False}


def test_who_slept_through_its_lease_deletes_nothing_of_the_next_backup(
    there: OnStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it slept before its backup was one, which then isn't made, or after."""
    state, to, woken = tmp_path / "s", f"{there.uri}-to", []

    def sleeps(act: Callable[..., None], *known: Any) -> None:
        monkeypatch.undo()
        steal(to)
        step(p)
        woken.append(back_up(state, to).step)
        act(*known)

    with pipeline(state, keep_steps=1) as p:
        step(p)
        back_up(state, to)
        for name in ("_sweep", "_write"):
            step(p)
            monkeypatch.setattr(backup, name, partial(sleeps, getattr(backup, name)))
            with suppress(StateError):
                assert back_up(state, to).step == p.last_step - 1
                assert name == "_sweep"
            restore(to, tmp_path / name)
            with pipeline(tmp_path / name) as restored:
                assert restored.last_step == p.last_step
                assert restored["counts"].rows() == p["counts"].rows()
            assert {*names_in(place_of(to) / "segments")} >= p.store.commit_of(p.last_step).segments
        assert woken == [3, 5]
        back_up(state, to)
        needed = {name for n in Store.read(state)[0].steps for name in p.store.commit_of(n).segments}
        assert {*names_in(place_of(to) / "segments")} == needed


# -- what is asked wrongly --------------------------------------------------------------------------


def test_what_is_damaged_or_refused_is_named(there: OnStore, tmp_path: Path) -> None:
    with pipeline(there.uri) as p:  # type: ignore[arg-type]
        with pytest.raises(StateError, match="no step yet, so nothing to back up"):
            back_up(there.uri, tmp_path / "to")
        step(p)
        with pipeline(tmp_path / "s") as local:
            step(local)
        with pytest.raises(StateError, match="is in the state directory"):
            back_up(there.uri, f"{there.uri}/to")
        with pytest.raises(StateError, match=r"is no backup \(it holds 'commits'\)"):
            back_up(tmp_path / "s", there.uri)
        with pytest.raises(StateError, match="no tag 'absent'; tags: none"):
            untag(there.uri, "absent")
        name = min(p.store.commit_of(1).segments)
    back_up(there.uri, f"{there.uri}-to")
    root = place_of(f"{there.uri}-to")
    assert isinstance(root, ObjectPath)
    for damage in (lambda path: path.put(b"x"), lambda path: path.unlink()):
        damage(root / "segments" / name)
        with pytest.raises(DamagedChunk, match=f"-to/segments/{name}: damaged"):
            restore(root, tmp_path / "r")  # type: ignore[arg-type]
        assert not (tmp_path / "r").exists()
        assert back_up(there.uri, f"{there.uri}-to").segments == 1
    restore(f"{there.uri}-to", tmp_path / "r")


# -- what if ----------------------------------------------------------------------------------------


def stepped(p: Pipeline, votes: list[tuple[int, int]]) -> list[dict[str, Any]]:
    p.insert("votes", votes)
    return p.step()["counts"].rows()


@pytest.mark.parametrize("names", [("s3 s", "s3 if"), ("s", "s3 if")])
def test_it_goes_on_as_if_nothing_else_had_come(
    there: OnStore, tmp_path: Path, names: tuple[str, str]
) -> None:
    state, other = (at(there, tmp_path, name) for name in names)
    with pipeline(state) as p, pipeline(tmp_path / "straight") as straight:  # type: ignore[arg-type]
        stepped(p, [(1, 1), (2, 1)])
        stepped(straight, [(1, 1), (2, 1)])
        stepped(p, [(1, 2)])
        kept = p["counts"].rows()
        branch(state, 1, other)
        with pipeline(other) as found:  # type: ignore[arg-type]
            assert stepped(found, [(3, 3)]) == stepped(straight, [(3, 3)])
            assert found["counts"].rows() == straight["counts"].rows()
        delete_all(place_of(other))
        assert not Store.read(state)[0].tags.all()
        with pytest.raises(StateError, match=r"no (such|state) directory"):
            Store.read(other)
        assert p["counts"].rows() == kept
