"""Records: what they hold, and what is said of one that is torn, damaged, renamed or lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dbsp.state.commits
from dbsp.circuits.errors import StateError
from dbsp.circuits.traces.segments import Chunk
from dbsp.state.commits import Commit
from dbsp.state.sealed import seal
from dbsp.state.store import Store
from tests.dbsp.state.stores import IDENTITY, commit, filled, record, segments, write


def test_a_commit_reads_back_as_it_was(tmp_path):
    whole = Commit(
        1,
        "f1",
        {"spines": {"3": [1, 2]}},
        changes={"v": [["a.seg", 0, 64, 1, 0, 0]]},
        segments=frozenset({"a.seg"}),
        stream="query",
        batch=7,
        offsets={"t": "ü"},
        waterlines={"t.ts": 5},
    )
    with_clock = Commit.from_bytes(whole.to_bytes(), Path("s", "commits", "000000000001.json"))
    assert with_clock == whole
    assert json.loads(whole.to_bytes())["commit"]["batch"] == 7


def test_a_file_system_without_hard_links_is_told(tmp_path, monkeypatch):
    store = filled(tmp_path, 1)

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(dbsp.state.commits.os, "link", refuse)
    with pytest.raises(
        StateError, match=r"step 2 was not committed: .* hard link, which this file system may"
    ):
        store.commit(commit(2))
    assert not record(store, 2).exists()


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


def test_a_record_under_another_name_is_no_step(tmp_path):
    store = filled(tmp_path, 3)
    store.close()
    record(store, 3).write_bytes(record(store, 2).read_bytes())
    with pytest.raises(StateError, match=r"000000000003.json: damaged: the file is the record of step 2"):
        Store.open(tmp_path, IDENTITY)


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


@pytest.mark.parametrize("name", ["../program.json", "/etc/passwd", "..", "a/b", "", None])
def test_a_record_that_names_files_elsewhere_is_damaged(tmp_path, name):
    """What it names is read, and deleted when nothing needs it any more."""
    whole = commit(1).to_bytes()
    outside = json.loads(whole)["commit"] | {"segments": [name]}
    store = Store.open(tmp_path, IDENTITY)
    record(store, 1).write_bytes(seal("commit", outside))
    store.close()
    with pytest.raises(StateError, match=r"000000000001\.json: damaged: '.*' is no name of a segment"):
        Store.open(tmp_path, IDENTITY)
    with pytest.raises(StateError, match="is no segment; the record is damaged"):
        Chunk.from_json([name, 0, 64, 1, 1, 0, 0])
