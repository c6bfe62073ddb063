"""What an opening finds: torn, damaged, lost and renamed records, and what a step that died wrote."""

from __future__ import annotations

import pytest

import dbsp.state.records.commits
from dbsp.circuits.errors import StateError
from dbsp.state.records.commits import Commit
from dbsp.state.store import Store
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
