"""The state directory through crashes: a step is there, or it isn't."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.state.store import Store
from tests.dbsp.state.stores import IDENTITY, commit, filled, segments, write


def test_the_last_commit_is_where_it_goes_on(tmp_path):
    filled(tmp_path / "s", 3).close()
    store = Store.open(tmp_path / "s", IDENTITY)
    assert store.last == commit(3, "3.seg")
    assert store.steps == [1, 2, 3]
    assert store.commit_of(2) == commit(2, "2.seg")


def test_an_empty_directory_is_a_new_one(tmp_path):
    assert Store.open(tmp_path, IDENTITY).last is None


@pytest.mark.slow
def test_a_killed_process_leaves_the_step_before_and_no_lock(tmp_path):
    script = f"""
        import os, signal
        import dbsp.state.records.commits
        from tests.dbsp.state.stores import filled, commit, write
        store = filled({str(tmp_path / "s")!r}, 2)
        write(store, "3.seg")
        dbsp.state.records.commits.os.link = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        store.commit(commit(3, "3.seg"))
    """
    here = Path(__file__).parents[3]
    died = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=here, check=False)
    assert died.returncode == -9
    again = Store.open(tmp_path / "s", IDENTITY)
    assert again.last == commit(2, "2.seg")
    assert segments(again) == {"1.seg", "2.seg"}


def test_one_writer_at_a_time(tmp_path):
    store = filled(tmp_path, 1)
    with pytest.raises(
        StateError, match=rf"{tmp_path}: in use by process {os.getpid()} on .*; close it first"
    ):
        Store.open(tmp_path, IDENTITY)
    looking, identity = Store.read(tmp_path)
    assert (looking.last, identity) == (commit(1, "1.seg"), IDENTITY)
    store.close()
    Store.open(tmp_path, IDENTITY).close()


def test_a_reader_changes_nothing(tmp_path):
    store = filled(tmp_path, 2)
    write(store, "3.seg")
    Store.read(tmp_path)[0].close()
    assert segments(store) == {"1.seg", "2.seg", "3.seg"}


def test_a_temporary_directory_ends_with_its_store():
    store = Store.temporary(IDENTITY)
    store.commit(commit(1, write(store, "1.seg")))
    assert store.root.is_dir()
    store.close()
    assert not store.root.exists()


def test_a_temporary_directory_goes_with_a_store_nobody_closed():
    store = Store.temporary(IDENTITY)
    root = store.root
    del store
    gc.collect()
    assert not root.exists()


def test_the_directory_is_synced_before_the_step_is_acknowledged(tmp_path, monkeypatch):
    """Power failure: what a record refers to, then the record, then its name reach the disk in that order."""
    store = filled(tmp_path, 1)
    order = []
    fsync, link = os.fsync, os.link
    monkeypatch.setattr(os, "fsync", lambda fd: order.append(os.readlink(f"/proc/self/fd/{fd}")) or fsync(fd))
    monkeypatch.setattr(os, "link", lambda a, b: order.append(f"link {b.name}") or link(a, b))
    store.commit(commit(2, write(store, "2.seg")))
    commits = tmp_path / "commits"
    directory, record, named, log, last = order
    assert (directory, named, log) == (str(tmp_path / "segments"), "link 000000000002.json", str(commits))
    assert record.startswith(f"{commits}/000000000002.json.")
    assert record.endswith(".tmp")
    assert last == "link last.tmp"
