"""What an opening finds: torn, damaged, lost and renamed records, and what a step that died wrote."""

from __future__ import annotations

import threading

import pytest

import dbsp.state.records.commits
from dbsp.circuits.errors import StateError
from dbsp.commands.fsck import examine
from dbsp.state.keeping.keep import Keep
from dbsp.state.objects.bucket import Tag
from dbsp.state.objects.cloud import CloudBucket
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.commits import Commit, record_name
from dbsp.state.recovery import AT_ONCE
from dbsp.state.store import Store
from tests.dbsp.state.objects.places import in_memory
from tests.dbsp.state.stores import IDENTITY, commit, filled, record, segments, write


@pytest.mark.parametrize("kept", [0, 1, 40, 90, -2, -1])
def test_a_torn_commit_was_whole_once(tmp_path, kept):
    """It has its name, and its bytes were on disk before."""
    store = filled(tmp_path, 3)
    store.close()
    whole = record(store, 3).read_bytes()
    record(store, 3).write_bytes(whole[:kept])
    with pytest.raises(StateError, match=r"000000000003.json: damaged: .*; restore .* `dbsp fsck "):
        Store.open(tmp_path, IDENTITY)
    with pytest.raises(StateError, match=r"000000000003.json: damaged"):
        Store.read(tmp_path)
    assert segments(store) == {"1.seg", "2.seg", "3.seg"}
    record(store, 3).write_bytes(whole)
    assert Store.open(tmp_path, IDENTITY).last == commit(3, "3.seg")


def test_a_damaged_old_commit_only_can_t_be_looked_at(tmp_path, caplog):
    store = filled(tmp_path, 3)
    store.close()
    whole = record(store, 2).read_bytes()
    record(store, 2).write_bytes(b"{}\n")
    again = Store.open(tmp_path, IDENTITY)
    assert again.last == commit(3, "3.seg")
    with pytest.raises(StateError, match=r"000000000002.json: damaged"):
        again.commit_of(2)
    assert "000000000002.json: damaged" in caplog.text
    again.close()
    record(store, 2).unlink()
    again = Store.open(tmp_path, IDENTITY)
    with pytest.raises(StateError, match="the file is missing"):
        again.commit_of(2)
    again.close()
    record(store, 2).write_bytes(whole)  # from a backup: what it needs was left alone
    assert Store.read(tmp_path)[0].commit_of(2) == commit(2, "2.seg")


def test_records_that_were_lost_are_missed(tmp_path):
    store = filled(tmp_path, 4)
    write(store, "000000000004-abc-1.trace")
    store.close()
    (tmp_path / "commits" / "last").unlink()
    for step in (3, 4):
        record(store, step).unlink()
    with pytest.raises(StateError, match="step 3 was committed, and the last record is that of step 2"):
        Store.open(tmp_path, IDENTITY)
    for step in (1, 2):
        record(store, step).unlink()
    with pytest.raises(StateError, match="last record is that of step 0"):
        Store.open(tmp_path, IDENTITY)
    (tmp_path / "commits").rmdir()
    with pytest.raises(StateError, match="commits: damaged: the directory is missing"):
        Store.open(tmp_path, IDENTITY)


def test_the_newest_record_has_a_second_name(tmp_path, caplog):
    store = filled(tmp_path, 3)
    store.close()
    record(store, 3).unlink()
    again = Store.open(tmp_path, IDENTITY)
    assert again.last == commit(3, "3.seg")
    assert "000000000003.json: damaged: the file was missing" in caplog.text
    again.commit(commit(4, write(again, "4.seg")))
    again.close()
    (tmp_path / "commits" / "last").write_bytes(b"")  # under both names: they are one file
    with pytest.raises(StateError, match=r"000000000004.json: damaged: the file is empty"):
        Store.open(tmp_path, IDENTITY)
    (tmp_path / "commits" / "last").unlink()
    record(store, 4).unlink()
    assert Store.open(tmp_path, IDENTITY).last == commit(3, "3.seg")  # without any witness


@pytest.mark.parametrize("moment", ["write", "fsync", "link"])
def test_a_crash_before_the_link_leaves_the_step_before(tmp_path, monkeypatch, moment):
    store = filled(tmp_path, 2)
    write(store, "3.seg")

    class Killed(BaseException):
        pass

    def die(*_):
        raise Killed

    if moment == "write":
        monkeypatch.setattr(Commit, "to_bytes", lambda _: die())
    else:
        monkeypatch.setattr(dbsp.state.records.commits.os, moment, die)
    with pytest.raises(Killed):
        store.commit(commit(3, "3.seg"))
    monkeypatch.undo()
    store.close()
    again = Store.open(tmp_path, IDENTITY)
    assert again.last == commit(2, "2.seg")
    assert segments(again) == {"1.seg", "2.seg"}
    assert not list((tmp_path / "commits").glob("*.tmp"))
    again.commit(commit(3, write(again, "3b.seg")))
    assert again.last.step == 3


def test_records_on_a_store_are_read_at_once(tmp_path, monkeypatch, caplog):
    """But for the last, each waits until others are asked for; one of them is damaged, and one is gone."""
    monkeypatch.setenv("DBSP_CACHE", str(tmp_path))
    root = ObjectPath(in_memory())
    store = Store.open(root, IDENTITY, Keep(AT_ONCE + 3))
    for step in range(1, AT_ONCE + 4):
        store.commit(commit(step, f"{step}.seg"))
    store.close()
    (root / "commits" / record_name(2)).write(b"{}\n")
    others = threading.Barrier(AT_ONCE, timeout=120)
    get = CloudBucket.get

    def together(self: CloudBucket, name: str) -> tuple[bytes, Tag]:
        if name.startswith("commits/") and name not in (
            f"commits/{record_name(n)}" for n in (1, 2, AT_ONCE + 3)
        ):
            others.wait()
        if name == f"commits/{record_name(1)}":
            raise FileNotFoundError(name)
        return get(self, name)

    monkeypatch.setattr(CloudBucket, "get", together)
    again = Store.read(root)[0]
    assert again.last == commit(AT_ONCE + 3, f"{AT_ONCE + 3}.seg")
    assert again.steps == [*range(2, AT_ONCE + 4)]
    assert "000000000002.json: damaged" in caplog.text
    with pytest.raises(StateError, match=r"000000000002.json: damaged"):
        again.commit_of(2)
    monkeypatch.undo()
    assert again.commit_of(3) == commit(3, "3.seg")


def test_a_store_that_lost_its_records_isn_t_read_as_empty(tmp_path, monkeypatch):
    monkeypatch.setenv("DBSP_CACHE", str(tmp_path))
    root = ObjectPath(in_memory())
    Store.open(root, IDENTITY).close()
    assert Store.read(root)[0].last is None  # nothing was made yet
    assert examine(root) == ([], [])
    store = Store.open(root, IDENTITY)
    for step in (1, 2):
        name = f"{step:012d}-abc-1.trace"
        (root / "segments" / name).put(b"x")
        store.commit(commit(step, name))
    store.close()
    (root / "commits").remove((root / "commits").all_names())
    lost = (
        "commits: damaged: step 1 was committed, and the last record is that of step 0; restore .* a new one"
    )
    for opening in (lambda: Store.read(root), lambda: Store.open(root, IDENTITY)):
        with pytest.raises(StateError, match=lost):
            opening()
    assert examine(root)[1] == []
    assert "step 1 was committed" in examine(root)[0][0]


def test_a_reader_that_comes_before_the_first_steps_sees_those_made_meanwhile(tmp_path, monkeypatch):
    monkeypatch.setenv("DBSP_CACHE", str(tmp_path))
    root = ObjectPath(in_memory())
    writer = Store.open(root, IDENTITY)
    names = CloudBucket.names

    def late(self, prefix, after=None):
        if writer.last is None:
            for step in (1, 2):
                (root / "segments" / f"{step:012d}-abc-1.trace").put(b"x")
                writer.commit(commit(step, f"{step:012d}-abc-1.trace"))
        return names(self, prefix, after)

    monkeypatch.setattr(CloudBucket, "names", late)
    assert Store.read(root)[0].last == commit(2, "000000000002-abc-1.trace")
    writer.close()
